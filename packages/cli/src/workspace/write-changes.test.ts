import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { directoryWith } from "../test-support/run-binary.ts";
import { changesBetween } from "./changes.ts";
import { prepareOut, writeChanges } from "./write-changes.ts";

async function write(out: string, files: Record<string, string>) {
  const data = Object.fromEntries(Object.entries(files).map(([path, content]) => [path, { content }]));
  return writeChanges(await prepareOut(out), changesBetween({}, data), data);
}

describe("changesBetween", () => {
  it("tells created, changed and deleted files apart, by content", () => {
    const same = { content: "same" };
    const before = { "/a": same, "/b": { content: "1" }, "/c": { content: "x" }, "/d": { content: "a\nb" } };
    const after = {
      "/a": same,
      "/b": { content: "2" },
      "/e": { content: "" },
      "/d": { content: ["a", "b"] },
    };
    expect(changesBetween(before, after)).toEqual({ created: ["/e"], changed: ["/b"], deleted: ["/c"] });
  });
});

describe("writeChanges", () => {
  it("writes files into directories it makes", async () => {
    const out = join(await directoryWith({}), "new", "out");
    expect(await write(out, { "/a.txt": "A", "/x/y/b.txt": "B" })).toEqual({
      written: ["/a.txt", "/x/y/b.txt"],
      refused: [],
    });
    expect(await readFile(join(out, "x/y/b.txt"), "utf8")).toBe("B");
    expect(await readdir(out)).toEqual(["a.txt", "x"]);
  });

  it.each([
    "/../escape.txt",
    "/a/../../escape.txt",
    "no-slash.txt",
    "/",
    "//x",
    "/./x",
    "/a\\..\\b",
    "/nul\0",
    "/C:/x",
  ])("%j never leaves the directory", async (path) => {
    const root = await directoryWith({});
    const report = await write(join(root, "out"), { [path]: "x" });
    expect(report.refused.map(({ path: refused }) => refused)).toEqual([path]);
    expect(await readdir(root)).toEqual(["out"]);
    expect(await readdir(join(root, "out"))).toEqual([]);
  });

  it.each([
    "/.git/hooks/pre-commit",
    "/sub/.GIT/config",
    "/GIT~1/config",
    "/.bashrc",
    "/home/.zshrc",
    "/.envrc",
    "/.mcp.json",
    "/.vscode/tasks.json",
    "/.deepwright/settings.json",
    "/.husky/pre-commit",
  ])("%s is not written: a tool could run it (FS-18)", async (path) => {
    const out = await directoryWith({});
    expect((await write(out, { [path]: "x" })).refused).toHaveLength(1);
    expect(await readdir(out)).toEqual([]);
  });

  it("writes through no link and replaces no directory", async () => {
    const outside = await directoryWith({ "target.txt": "untouched", "second.txt": "untouched" });
    const out = await directoryWith({});
    await symlink(outside, join(out, "dir"));
    await symlink(join(outside, "target.txt"), join(out, "file.txt"));
    await link(join(outside, "second.txt"), join(out, "hard.txt"));
    await mkdir(join(out, "taken"));
    const report = await write(out, { "/dir/x.txt": "x", "/file.txt": "x", "/hard.txt": "x", "/taken": "x" });
    expect(report.written).toEqual(["/hard.txt"]);
    expect(await readFile(join(outside, "target.txt"), "utf8")).toBe("untouched");
    expect(await readFile(join(outside, "second.txt"), "utf8")).toBe("untouched");
    expect((await readdir(outside)).sort()).toEqual(["second.txt", "target.txt"]);
  });

  it("keeps the mode of a file it replaces", async () => {
    const out = await directoryWith({ "run.sh": "old" });
    await chmod(join(out, "run.sh"), 0o755);
    await write(out, { "/run.sh": "new" });
    expect((await stat(join(out, "run.sh"))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(out, "run.sh"), "utf8")).toBe("new");
  });

  it("refuses a file as the place to write to", async () => {
    const directory = await directoryWith({});
    await writeFile(join(directory, "file"), "x");
    await expect(prepareOut(join(directory, "file"))).rejects.toThrow("--out must be a directory");
    await expect(prepareOut(join(directory, "file", "sub"))).rejects.toThrow("Cannot write to --out");
  });
});
