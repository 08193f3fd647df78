import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { type DiskTree, diskTree } from "./disk-tree-for-tests.ts";
import { openUndoTree, type UndoTree, undoTreeName } from "./undo-tree.ts";

let tree: DiskTree;
let place: UndoTree;

beforeEach(() => {
  tree = diskTree();
  place = openUndoTree(undoTreeName(tree.root)) as UndoTree;
});

it("a place has one name by whatever links one gets there", () => {
  symlinkSync(tree.root, join(tree.evil, "alias"));
  expect(undoTreeName(join(tree.evil, "alias"))).toBe(`disk:${tree.root}`);
  expect(undoTreeName(`${tree.root}/.`)).toBe(`disk:${tree.root}`);
  expect(undoTreeName(join(tree.root, "missing"))).toBe(`disk:${tree.root}/missing`);
  expect(openUndoTree("store:x")).toBeUndefined();
});

it("gives what is there, puts content in its place, and removes it", async () => {
  expect(await place.read("/a/b")).toBeUndefined();
  await place.write("/a/b", Buffer.from("one"));
  expect(Buffer.from((await place.read("/a/b")) ?? []).toString()).toBe("one");
  chmodSync(join(tree.root, "a/b"), 0o755);
  await place.write("/a/b", Buffer.from("two"));
  expect(statSync(join(tree.root, "a/b")).mode & 0o777).toBe(0o755);
  await place.write("/a/b", undefined);
  await place.write("/a/b", undefined);
  expect(existsSync(join(tree.root, "a/b"))).toBe(false);
});

it("stays inside, and never takes a directory for a file", async () => {
  const outside = tree.outside();
  symlinkSync("../workspace-evil", join(tree.root, "out"));
  mkdirSync(join(tree.root, "directory/inner"), { recursive: true });
  await expect(place.read("/out/secret.txt")).rejects.toThrow(/OUTSIDE_ROOT/);
  await expect(place.write("/out/secret.txt", Buffer.from("x"))).rejects.toThrow(/OUTSIDE_ROOT/);
  await expect(place.write("/out/secret.txt", undefined)).rejects.toThrow(/OUTSIDE_ROOT/);
  await expect(place.read("/directory")).rejects.toThrow(/IS_DIRECTORY/);
  await expect(place.write("/directory", undefined)).rejects.toThrow(/IS_DIRECTORY/);
  expect(existsSync(join(tree.root, "directory/inner"))).toBe(true);
  expect(tree.outside()).toBe(outside);
});

it("names the files that changed since a moment, links and git left out", async () => {
  for (const name of ["a/old", "a/new", "b.txt", ".git/index"]) {
    mkdirSync(join(tree.root, name, ".."), { recursive: true });
    writeFileSync(join(tree.root, name), "1");
  }
  symlinkSync("../workspace-evil", join(tree.root, "out"));
  const before = statSync(join(tree.root, "a/old")).ctimeMs - 1;
  expect(await place.changedSince(before)).toEqual(["/a/new", "/a/old", "/b.txt"]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const moment = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 20));
  writeFileSync(join(tree.root, "a/new"), "2");
  utimesSync(join(tree.root, "b.txt"), 1, 1);
  expect(await place.changedSince(moment)).toEqual(["/a/new", "/b.txt"]);
  expect(readFileSync(join(tree.root, "a/new"), "utf8")).toBe("2");
});
