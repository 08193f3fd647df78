import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { diskTree } from "./disk-tree-for-tests.ts";
import { OpenDirectory } from "./open-directory.ts";
import { SteadyPath } from "./steady-path.ts";

it("a path is trusted when nothing on it was changed for a while, and until something is", async () => {
  const tree = diskTree();
  const inner = join(tree.root, "a/b");
  mkdirSync(inner, { recursive: true });
  const directory = OpenDirectory.openRoot(inner);
  onTestFinished(() => directory.close());
  expect(SteadyPath.of(directory, tree.root)).toBeUndefined();
  await sleep(1200);
  const trusted = () => SteadyPath.of(directory, tree.root) as SteadyPath;
  expect(trusted()).toMatchObject({ path: inner });
  expect(SteadyPath.of(directory, tree.evil)).toBeUndefined();

  const before = trusted();
  renameSync(join(tree.root, "a"), join(tree.root, "kept"));
  symlinkSync("../workspace-evil", join(tree.root, "a"));
  unlinkSync(join(tree.root, "a"));
  renameSync(join(tree.root, "kept"), join(tree.root, "a"));
  expect(before.isUnchanged()).toBe(false);
  expect(SteadyPath.of(directory, tree.root)).toBeUndefined();

  await sleep(1200);
  const again = trusted();
  expect(again.isUnchanged()).toBe(true);
  writeFileSync(join(inner, "new"), "1");
  expect(again.isUnchanged()).toBe(false);
});
