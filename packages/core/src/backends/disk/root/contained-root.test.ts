import { closeSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type DiskTree, diskTree } from "../disk-tree-for-tests.ts";
import { asFileError } from "../file-errors.ts";
import { ContainedRoot } from "./contained-root.ts";
import { type OpenStrategy, usualStrategy } from "./open-directory.ts";

const strategies: OpenStrategy[] = usualStrategy() === "descriptor" ? ["descriptor", "path"] : ["path"];

describe.each(strategies)("a contained root by %s", (strategy) => {
  let tree: DiskTree;
  let root: ContainedRoot;

  beforeEach(() => {
    tree = diskTree();
    root = new ContainedRoot(tree.root, { strategy });
    mkdirSync(join(tree.root, "a/b"), { recursive: true });
    writeFileSync(join(tree.root, "a/b/file.txt"), "inside");
  });

  function link(target: string, at: string): void {
    symlinkSync(target, join(tree.root, at));
  }

  /** The text of what is at a path with its path after links, or the code of the failure. */
  function follow(path: string, at: ContainedRoot = root): string | undefined {
    const opened = at.openFile(path);
    if ("error" in opened) return opened.code;
    try {
      return `${opened.path}: ${opened.stats.isFile() ? readFileSync(opened.fd, "utf8") : "directory"}`;
    } finally {
      closeSync(opened.fd);
    }
  }

  function realPath(path: string): string | undefined {
    try {
      const resolved = root.resolve(path);
      resolved.directory?.close();
      return resolved.path;
    } catch (error) {
      return asFileError(error, path).code;
    }
  }

  it("follows links that stay inside, whichever way they are written", () => {
    link("a/b", "relative");
    link(join(tree.root, "a/b"), "absolute");
    link("../../a/./b/../b/file.txt", "a/b/upwards");
    link("relative", "twice");
    link(`../${basename(tree.root)}/a`, "out-and-in");
    link(".", "self");
    expect(follow("/relative/file.txt")).toBe("/a/b/file.txt: inside");
    expect(follow("/absolute/file.txt")).toBe("/a/b/file.txt: inside");
    expect(follow("/a/b/upwards")).toBe("/a/b/file.txt: inside");
    expect(follow("/twice/file.txt")).toBe("/a/b/file.txt: inside");
    expect(follow("/out-and-in/b/file.txt")).toBe("/a/b/file.txt: inside");
    expect(follow("/self/self/a/b/file.txt")).toBe("/a/b/file.txt: inside");
    expect(follow("/self")).toBe("/: directory");
    expect(follow(`/${"long".repeat(100)}/file.txt`)).toBe("INVALID_PATH");
  });

  it.each([
    ["../workspace-evil/secret.txt"],
    ["../workspace-evil/no-such-file"],
    ["../no-such-directory/x"],
    ["/etc/passwd"],
    ["/no-such-path"],
    [".."],
    ["a/../../workspace-evil/secret.txt"],
    ["../../../../../../../../etc/passwd"],
  ])("refuses a link to %s in the same words whether or not something is there", (target) => {
    link(target, "link");
    for (const path of ["/link", "/link/further"])
      expect(root.openFile(path)).toEqual({
        error: `'${path}' leads out of the root directory`,
        code: "OUTSIDE_ROOT",
      });
  });

  it("refuses an absolute link whose name only begins like the root", () => {
    link(`${tree.root}-evil/secret.txt`, "link");
    link(`${tree.root}/../workspace-evil/secret.txt`, "dots");
    expect(follow("/link")).toBe("OUTSIDE_ROOT");
    expect(follow("/dots")).toBe("OUTSIDE_ROOT");
  });

  it.skipIf(process.platform === "win32")("takes a backslash in a link for a letter of the name", () => {
    writeFileSync(join(tree.root, "a\\b"), "odd");
    link("a\\b", "odd-link");
    expect(follow("/odd-link")).toMatch(/: odd$/);
  });

  it("gives up on loops and on endless chains", () => {
    link("loop", "loop");
    link("two", "one");
    link("one", "two");
    for (let number = 0; number < 50; number++) link(`chain-${number + 1}`, `chain-${number}`);
    for (const path of ["/loop", "/one", "/two/x", "/chain-0"]) expect(follow(path)).toBe("INVALID_PATH");
    expect(follow("/chain-20")).toBe("FILE_NOT_FOUND");
  });

  it("says where a path leads though nothing is there yet", () => {
    link("a/new", "dangling");
    link("a", "shortcut");
    expect(realPath("/dangling")).toBe("/a/new");
    expect(realPath("/dangling/deeper/x")).toBe("/a/new/deeper/x");
    expect(realPath("/shortcut/new/x")).toBe("/a/new/x");
    expect(realPath("/shortcut/b")).toBe("/a/b");
    expect(realPath("/missing")).toBe("/missing");
  });

  it("finds a file whose name is stored in another form of Unicode", () => {
    mkdirSync(join(tree.root, "ordner-a\u0308"));
    writeFileSync(join(tree.root, "ordner-a\u0308/e\u0301.txt"), "decomposed");
    expect(follow("/ordner-\u00e4/\u00e9.txt")).toBe("/ordner-\u00e4/\u00e9.txt: decomposed");
    writeFileSync(join(tree.root, "ordner-a\u0308/\u00e9.txt"), "composed");
    expect(follow("/ordner-\u00e4/\u00e9.txt")).toMatch(/composed$/);
  });

  it("makes the directories on the way, through links too", () => {
    link("a", "shortcut");
    const resolved = root.resolve("/shortcut/new/deep/file.txt", { create: true });
    expect(resolved.path).toBe("/a/new/deep/file.txt");
    resolved.directory?.close();
    expect(readdirSync(join(tree.root, "a/new"))).toEqual(["deep"]);
  });

  it("keeps a link at the end when asked to", () => {
    link("../workspace-evil", "out");
    link("a", "shortcut");
    const resolved = root.resolve("/out", { keepLink: true });
    expect(resolved).toMatchObject({ name: "out", path: "/out" });
    resolved.directory?.close();
    const inner = root.resolve("/shortcut/b", { keepLink: true });
    expect(inner.path).toBe("/a/b");
    inner.directory?.close();
  });

  it("opens directories, and says what else is in their place", () => {
    link("a", "shortcut");
    const opened = root.openDirectory("/shortcut");
    if ("error" in opened) throw new Error(opened.error);
    expect(opened.path).toBe("/a");
    expect(opened.directory.entries().map((entry) => entry.name)).toEqual(["b"]);
    opened.directory.close();
    expect(root.openDirectory("/a/b/file.txt")).toMatchObject({ code: "NOT_A_DIRECTORY" });
    expect(root.openDirectory("/nothing")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(root.openDirectory("/a/b/file.txt/x")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("takes and gives the paths of the host where it is mounted under its own name", () => {
    const host = new ContainedRoot(tree.root, { strategy, mountedAt: tree.root });
    link("a/b/file.txt", "link");
    expect(follow(join(tree.root, "link"), host)).toBe(`${tree.root}/a/b/file.txt: inside`);
    expect(follow(`${tree.root}-evil/secret.txt`, host)).toBe("OUTSIDE_ROOT");
    expect(follow("/etc/passwd", host)).toBe("OUTSIDE_ROOT");
    expect(host.pathInside(tree.root)).toBe("/");
  });

  it("may be reached by a link, and be called by both names", () => {
    const alias = `${tree.evil}/alias`;
    symlinkSync(tree.root, alias);
    const host = new ContainedRoot(alias, { strategy, mountedAt: alias });
    link(`${alias}/a/b/file.txt`, "by-alias");
    link(`${tree.root}/a/b/file.txt`, "by-real-name");
    expect(follow(`${alias}/by-alias`, host)).toBe(`${alias}/a/b/file.txt: inside`);
    expect(follow(`${alias}/by-real-name`, host)).toBe(`${alias}/a/b/file.txt: inside`);
    expect(follow(`${tree.root}/a/b/file.txt`, host)).toBe(`${alias}/a/b/file.txt: inside`);
  });

  it.skipIf(process.platform !== "linux")(
    "leaves no descriptor open but that of the root, whatever the outcome",
    () => {
      link("a", "shortcut");
      link("../workspace-evil", "out");
      link("loop", "loop");
      follow("/");
      const before = readdirSync("/proc/self/fd").length;
      for (const path of [
        "/shortcut/b/file.txt",
        "/out/x",
        "/loop",
        "/missing/x/y",
        "/a/b/file.txt/x",
        "/",
      ]) {
        follow(path);
        realPath(path);
        const opened = root.openDirectory(path);
        if (!("error" in opened)) opened.directory.close();
      }
      // Fewer, where roots of other tests were collected meanwhile.
      expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
      root.close();
      root.close();
      expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + (strategy === "path" ? 1 : 0));
    },
  );
});
