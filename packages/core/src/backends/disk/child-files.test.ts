import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChildFiles } from "../child-files.ts";
import { listChildFiles } from "./child-files.ts";
import { ContainedRoot } from "./root/contained-root.ts";

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

  describe("that are looked at again", () => {
    /** Long enough ago that a date tells one change from the next. */
    const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120));
    const always = (): boolean => true;

    async function seenTwice(): Promise<{ root: string; before: ChildFiles }> {
      const root = directory();
      write(root, "s/a/X.md", "one");
      write(root, "s/b/X.md", "two");
      mkdirSync(join(root, "s/empty"));
      write(root, "s/plain.md", "no");
      await settled();
      await list(root, "/s", strategy, always);
      return { root, before: await list(root, "/s", strategy, always) };
    }

    const again = (root: string): Promise<ChildFiles> => list(root, "/s", strategy, always);
    const pathsOf = ({ files }: ChildFiles): string[] => files.map(({ path }) => path);

    test("are the very same list while nothing changes", async () => {
      const { root, before } = await seenTwice();
      expect(pathsOf(before)).toEqual(["/s/a/X.md", "/s/b/X.md"]);
      expect(await again(root)).toBe(before);
    });

    test("come with their beginning for whoever does not know them", async () => {
      const { root } = await seenTwice();
      const { files } = await list(root, "/s", strategy, () => false);
      expect(files.map(({ head }) => head)).toEqual(["one", "two"]);
    });

    test.each<[what: string, change: (root: string) => void, paths: string[]]>([
      ["is edited", (root) => write(root, "s/b/X.md", "two and more"), ["/s/a/X.md", "/s/b/X.md"]],
      ["is edited to the same length", (root) => write(root, "s/b/X.md", "TWO"), ["/s/a/X.md", "/s/b/X.md"]],
      [
        "appears in a directory that had none",
        (root) => write(root, "s/empty/X.md", "new"),
        ["/s/a/X.md", "/s/b/X.md", "/s/empty/X.md"],
      ],
      [
        "comes with a new directory",
        (root) => write(root, "s/c/X.md", "new"),
        ["/s/a/X.md", "/s/b/X.md", "/s/c/X.md"],
      ],
      ["is removed", (root) => rmSync(join(root, "s/b/X.md")), ["/s/a/X.md"]],
      ["goes with its directory", (root) => rmSync(join(root, "s/a"), { recursive: true }), ["/s/b/X.md"]],
    ])("are another list when one %s", async (_, change, paths) => {
      const { root, before } = await seenTwice();
      change(root);
      const after = await again(root);
      expect(after).not.toBe(before);
      expect(pathsOf(after)).toEqual(paths);
      const stampsOf = ({ files }: ChildFiles): string[] => files.map(({ stamp }) => stamp);
      expect(stampsOf(after)).not.toEqual(stampsOf(before));
    });

    test("are none where a directory was swapped for a link", async () => {
      const { root } = await seenTwice();
      const outside = directory();
      write(outside, "X.md", "secret");
      rmSync(join(root, "s/a"), { recursive: true });
      symlinkSync(outside, join(root, "s/a"));
      expect(await again(root)).toMatchObject({ files: [{ path: "/s/b/X.md" }], others: ["/s/a"] });
    });

    test("are not looked for once the directory has one itself", async () => {
      const { root } = await seenTwice();
      write(root, "s/X.md", "own");
      expect(await again(root)).toMatchObject({ own: { path: "/s/X.md" } });
    });
  });
});
