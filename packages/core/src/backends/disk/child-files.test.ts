import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChildFiles } from "../child-files.ts";
import { listChildFiles } from "./child-files.ts";
import { ContainedRoot } from "./contained-root.ts";

function directory(): string {
  const root = mkdtempSync(join(tmpdir(), "child-files-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

const write = (root: string, path: string, text: string): void => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
};

const known = new Set<string>();

const list = async (
  root: string,
  path = "/s",
  strategy?: "descriptor" | "path",
  isKnown: (stamp: string) => boolean = (stamp) => known.has(stamp),
): Promise<ChildFiles> =>
  (await listChildFiles(new ContainedRoot(root, { strategy }), path, {
    name: "X.md",
    headBytes: 8,
    isKnown,
  })) as ChildFiles;

describe.each(["path", undefined] as const)("files in the directories of a directory (%s)", (strategy) => {
  test("come with their beginning, sorted", async () => {
    const root = directory();
    write(root, "s/b/X.md", "0123456789");
    write(root, "s/a/X.md", "short");
    write(root, "s/c/other.md", "no");
    write(root, "s/plain.md", "no");
    write(root, "s/a/deep/X.md", "no");
    const { files, others, own } = await list(root, "/s", strategy);
    expect(files.map(({ path, head, size }) => [path, head, size])).toEqual([
      ["/s/a/X.md", "short", 5],
      ["/s/b/X.md", "01234567", 10],
    ]);
    expect(others).toEqual([]);
    expect(own).toBeUndefined();
  });

  test("that are known are not read, and one that changed has another stamp", async () => {
    const root = directory();
    write(root, "s/a/X.md", "one");
    write(root, "s/b/X.md", "two");
    const before = await list(root, "/s", strategy);
    const stamps = new Set(before.files.map(({ stamp }) => stamp));
    write(root, "s/new.tmp", "ONE");
    renameSync(join(root, "s/new.tmp"), join(root, "s/b/X.md"));
    const after = await list(root, "/s", strategy, (stamp) => stamps.has(stamp));
    expect(after.files.map(({ head }) => head)).toEqual([undefined, "ONE"]);
  });

  test("are not looked for where the directory has one itself", async () => {
    const root = directory();
    write(root, "s/X.md", "own");
    write(root, "s/a/X.md", "child");
    expect(await list(root, "/s", strategy)).toMatchObject({
      own: { path: "/s/X.md", head: "own" },
      files: [],
    });
  });

  test("behind links, and what is no file, are left to whoever asked", async () => {
    const root = directory();
    const outside = directory();
    write(outside, "X.md", "secret");
    write(root, "s/good/X.md", "good");
    symlinkSync(outside, join(root, "s/linked"));
    mkdirSync(join(root, "s/file"));
    symlinkSync(join(outside, "X.md"), join(root, "s/file/X.md"));
    mkdirSync(join(root, "s/directory/X.md"), { recursive: true });
    const found = await list(root, "/s", strategy);
    expect(found.files.map(({ path }) => path)).toEqual(["/s/good/X.md"]);
    expect(found.others).toEqual(["/s/directory", "/s/file", "/s/linked"]);
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test("are none, with a reason, where there is no directory", async () => {
    const root = directory();
    expect(await list(root, "/s", strategy)).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  test("lie in the root as well", async () => {
    const root = directory();
    write(root, "a/X.md", "x");
    expect((await list(root, "/", strategy)).files.map(({ path }) => path)).toEqual(["/a/X.md"]);
  });
});
