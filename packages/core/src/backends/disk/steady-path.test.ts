import { mkdirSync, renameSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { eventually, until } from "../../../../../scripts/test-time.ts";
import { diskTree } from "./disk-tree-for-tests.ts";
import { OpenDirectory } from "./open-directory.ts";
import { SteadyPath } from "./steady-path.ts";

it("a path is trusted when nothing on it was changed for a while, and until something is", async () => {
  const tree = diskTree();
  const inner = join(tree.root, "a/b");
  mkdirSync(inner, { recursive: true });
  const directory = OpenDirectory.openRoot(inner);
  onTestFinished(() => directory.close());
  const trusted = () => SteadyPath.of(directory, tree.root) as SteadyPath;
  await eventually(() => {
    utimesSync(inner, 1, 1);
    expect(trusted()).toBeUndefined();
  });
  await until(trusted);
  expect(trusted()).toMatchObject({ path: inner });
  expect(SteadyPath.of(directory, tree.evil)).toBeUndefined();

  const before = trusted();
  await eventually(() => {
    renameSync(join(tree.root, "a"), join(tree.root, "kept"));
    symlinkSync("../workspace-evil", join(tree.root, "a"));
    unlinkSync(join(tree.root, "a"));
    renameSync(join(tree.root, "kept"), join(tree.root, "a"));
    expect(before.isUnchanged()).toBe(false);
    expect(trusted()).toBeUndefined();
  });

  await until(trusted);
  const again = trusted();
  expect(again.isUnchanged()).toBe(true);
  writeFileSync(join(inner, "new"), "1");
  expect(again.isUnchanged()).toBe(false);
});
