/** Entries of a workspace are looked up from its descriptor, and no link in it is followed. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../os-for-tests.ts";
import { isIn, WorkspaceRoot } from "./workspace-root.ts";

function workspace() {
  const [path, outside] = [scratchDirectory(), scratchDirectory()];
  writeFileSync(join(outside, "secret"), "secret");
  mkdirSync(join(path, "dir"));
  writeFileSync(join(path, "dir", "file"), "text");
  symlinkSync(outside, join(path, "out"));
  symlinkSync("dir", join(path, "in"));
  symlinkSync("dir/file", join(path, "link"));
  const root = new WorkspaceRoot(path);
  onTestFinished(() => root.close());
  const at = (name: string) => join(path, name);
  return { path, outside, root, at };
}

const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).sort();

it.each([
  ["/a/b", "/a", true],
  ["/a", "/a", false],
  ["/ab", "/a", false],
  ["/a", "/", true],
  ["/", "/", false],
])("%s lies in %s: %s", (path, directory, expected) => expect(isIn(path, directory)).toBe(expected));

it("files and directories are read; through a link nothing is", () => {
  const { root, at, path } = workspace();
  expect(names(root.entries(path))).toEqual(["dir", "in", "link", "out"]);
  expect(names(root.entries(at("dir")))).toEqual(["file"]);
  expect(root.read(at("dir/file"))?.toString()).toBe("text");
  expect(root.stats(at("dir/file"))?.isFile()).toBe(true);
  expect(root.stats(at("in"))?.isSymbolicLink()).toBe(true);
  for (const name of ["out", "in", "out/secret", "in/file", "missing", "dir/file"])
    expect(root.entries(at(name)), name).toEqual([]);
  for (const name of ["out/secret", "in/file", "missing/file", "dir/file/x"])
    expect([root.stats(at(name)), root.read(at(name)), root.linkTarget(at(name))], name).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  expect(root.read(at("link"))).toBeUndefined();
  expect(root.read(at("dir"))).toBeUndefined();
  expect([root.linkTarget(at("in")), root.linkTarget(at("dir"))]).toEqual(["dir", undefined]);
});

it("what lies elsewhere is looked up by name, with its links", () => {
  const { root, outside } = workspace();
  symlinkSync("secret", join(outside, "link"));
  expect(names(root.entries(outside))).toEqual(["link", "secret"]);
  expect(root.read(join(outside, "link"))?.toString()).toBe("secret");
  expect(root.read(join(outside, "missing"))).toBeUndefined();
  expect(root.stats(join(outside, "link"))?.isSymbolicLink()).toBe(true);
  expect(root.linkTarget(join(outside, "link"))).toBe("secret");
  expect(root.entries(join(outside, "missing"))).toEqual([]);
});

it("it is the directory that is held, whatever has its name now", () => {
  const { root, path, at } = workspace();
  expect(root.isThere).toBe(true);
  renameSync(path, `${path}-moved`);
  onTestFinished(() => rmSync(`${path}-moved`, { recursive: true }));
  expect(root.isThere).toBe(false);
  mkdirSync(path);
  expect(root.isThere).toBe(false);
  expect(root.read(at("dir/file"))?.toString()).toBe("text");
  expect(names(root.entries(path))).toEqual(["dir", "in", "link", "out"]);
});

it("files are checked before they are opened, and what is no file is not opened", () => {
  const { root, at, outside } = workspace();
  const seen: number[] = [];
  const refuse = ({ size }: { readonly size: number }): void => {
    seen.push(size);
    throw new RangeError("too long");
  };
  expect(() => root.read(at("dir/file"), refuse)).toThrow("too long");
  expect(() => root.read(join(outside, "secret"), refuse)).toThrow("too long");
  expect(seen).toEqual([4, 6]);
  execFileSync("mkfifo", [at("pipe")]);
  expect(root.read(at("pipe"))).toBeUndefined();
});

it("a socket, which cannot be opened, is no file", async () => {
  const { root, at } = workspace();
  const server = createServer().listen(at("socket"));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  expect(root.read(at("socket"))).toBeUndefined();
});

it("names are changed in the directory that was looked up", () => {
  const { root, at } = workspace();
  root.rename(at("dir/file"), "other");
  expect(readFileSync(at("dir/other"), "utf8")).toBe("text");
  root.symlink(at("dir/new"), "other");
  expect(readlinkSync(at("dir/new"))).toBe("other");
  expect(() => root.symlink(at("dir/new"), "other")).toThrow(expect.objectContaining({ code: "EEXIST" }));
  root.symlink(at("out/new"), "other");
  expect(root.entries(at("out"))).toEqual([]);
});

it("is closed once, however often it is asked to", () => {
  const { root } = workspace();
  root.close();
  expect(() => root.close()).not.toThrow();
});
