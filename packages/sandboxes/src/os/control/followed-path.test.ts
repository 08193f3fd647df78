/** Where git is led by a path: never past a name that a command could lead elsewhere. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../os-for-tests.ts";
import { followPath } from "./followed-path.ts";
import { WorkspaceRoot } from "./workspace-root.ts";

function places() {
  const [inside, outside] = [scratchDirectory(), scratchDirectory()];
  mkdirSync(join(inside, "repo", "deep"), { recursive: true });
  mkdirSync(join(outside, "real"));
  symlinkSync("deep", join(inside, "repo", "link"));
  symlinkSync("real", join(outside, "link"));
  symlinkSync(join(inside, "repo"), join(outside, "back"));
  symlinkSync("loop", join(outside, "loop"));
  const root = new WorkspaceRoot(inside);
  onTestFinished(() => root.close());
  return { inside, outside, root };
}

it("names are followed from where they are written", () => {
  const { inside, outside, root } = places();
  const repo = join(inside, "repo");
  const end = (from: string, path: string, kept?: string) => followPath(root, { from, path }, kept);
  // From the workspace.
  expect(end(repo, "deep/./x")).toBe(join(repo, "deep/x"));
  expect(end(inside, "repo")).toBe(repo);
  expect(end(repo, "..")).toBe(inside);
  expect(end(join(repo, "deep"), "../hooks")).toBe(join(repo, "hooks"));
  expect(end(repo, "/etc/hooks")).toBe("/etc/hooks");
  // From elsewhere, where links are nobody's to change.
  expect(end(outside, "link/hooks")).toBe(join(outside, "real/hooks"));
  expect(end(outside, "link/../x")).toBe(join(outside, "x"));
  expect(end(join(outside, "link"), "x")).toBe(join(outside, "real/x"));
  expect(end(outside, "back/deep")).toBe(join(repo, "deep"));
  expect(end(repo, join(outside, "link"))).toBe(join(outside, "real"));
});

it("a link in the workspace, and a step back over a name in it, lead nowhere", () => {
  const { inside, outside, root } = places();
  const repo = join(inside, "repo");
  const end = (from: string, path: string, kept?: string) => followPath(root, { from, path }, kept);
  expect(end(repo, "link/x")).toBeUndefined();
  expect(end(repo, "deep/../x")).toBeUndefined();
  expect(end(outside, join(repo, "link"))).toBeUndefined();
  expect(end(repo, "link", join(repo, "link"))).toBe(join(repo, "deep"));
  expect(end(outside, "loop")).toBeUndefined();
});
