import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { directoryWith } from "../test-support/run-binary.ts";
import { leftOutWords } from "./left-out.ts";
import { WORKSPACE_LIMITS, type WorkspaceLimits } from "./limits.ts";
import { readWorkspace } from "./read-workspace.ts";

async function pathsOf(directory: string, limits: Partial<WorkspaceLimits> = {}): Promise<string[]> {
  return Object.keys((await readWorkspace(directory, { ...WORKSPACE_LIMITS, ...limits })).files);
}

async function leftOutOf(directory: string, limits: Partial<WorkspaceLimits> = {}): Promise<string> {
  const all = { ...WORKSPACE_LIMITS, ...limits };
  return leftOutWords((await readWorkspace(directory, all)).leftOut, all);
}

describe("readWorkspace", () => {
  it("takes text files whatever they are called, and leaves out what is no text", async () => {
    const directory = await directoryWith({
      "a.md": "# A",
      "image.png": "only text in truth",
      "no-name": "text",
      "empty.txt": "",
      "bom.txt": "\ufeffwith a mark",
      "nul.txt": "a\0b",
      "latin1.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9]),
    });
    const { files } = await readWorkspace(directory, WORKSPACE_LIMITS);
    expect(Object.keys(files).sort()).toEqual(["/a.md", "/bom.txt", "/empty.txt", "/image.png", "/no-name"]);
    expect(files["/bom.txt"]?.content).toBe("\ufeffwith a mark");
    expect(await leftOutOf(directory)).toBe("2 not text");
  });

  it("respects .gitignore at every level, deeper rules winning", async () => {
    const directory = await directoryWith({
      ".gitignore": "*.log\n/build/\nsecret.txt\n",
      "a.log": "x",
      "keep.txt": "x",
      "build/out.js": "x",
      "src/build/kept.js": "x",
      "src/.gitignore": "!b.log\n*.tmp\n",
      "src/a.log": "x",
      "src/b.log": "x",
      "src/deep/b.log": "x",
      "src/deep/c.tmp": "x",
      "src/secret.txt": "x",
      "other/c.tmp": "x",
      "node_modules/lib/index.js": "x",
      "src/node_modules/lib/index.js": "x",
      ".git/config": "x",
    });
    expect((await pathsOf(directory)).sort()).toEqual([
      "/.gitignore",
      "/keep.txt",
      "/other/c.tmp",
      "/src/.gitignore",
      "/src/b.log",
      "/src/build/kept.js",
      "/src/deep/b.log",
    ]);
  });

  it("respects the rules of the repository around the directory", async () => {
    const root = await directoryWith({
      ".git/HEAD": "ref",
      ".gitignore": "*.log\n",
      "sub/a.log": "x",
      "sub/a.txt": "x",
    });
    expect(await pathsOf(join(root, "sub"))).toEqual(["/a.txt"]);
  });

  it("does not show files made to hold secrets", async () => {
    const directory = await directoryWith({
      ".env": "KEY=1",
      ".env.production": "KEY=1",
      ".env.example": "KEY=",
      id_rsa: "x",
      "cert.pem": "x",
      ".npmrc": "x",
    });
    expect(await pathsOf(directory)).toEqual(["/.env.example"]);
    expect(await leftOutOf(directory)).toBe("5 that may hold secrets");
  });

  it("counts what is over the limits and takes what fits, broad before deep", async () => {
    const directory = await directoryWith({
      "deep/er/a.txt": "12345",
      "b.txt": "12345",
      "big.txt": "x".repeat(100),
      "c.txt": "12345",
    });
    expect(await pathsOf(directory, { fileBytes: 50, files: 2 })).toEqual(["/b.txt", "/c.txt"]);
    const words = await leftOutOf(directory, { fileBytes: 50, files: 2 });
    expect(words).toBe("1 over 50 B, 1 beyond 2 files or 20.0 MB in all");
    expect(await pathsOf(directory, { totalBytes: 12 })).toEqual(["/b.txt", "/c.txt"]);
    expect((await readWorkspace(directory, { ...WORKSPACE_LIMITS, entries: 2 })).complete).toBe(false);
  });

  it("follows no link, in or out", async () => {
    const outside = await directoryWith({ "secret.txt": "outside" });
    const directory = await directoryWith({ "a.txt": "inside" });
    await symlink(join(outside, "secret.txt"), join(directory, "out.txt"));
    await symlink(outside, join(directory, "outdir"));
    await symlink(directory, join(directory, "circle"));
    await symlink("a.txt", join(directory, "b.txt"));
    expect(await pathsOf(directory)).toEqual(["/a.txt"]);
    expect(await leftOutOf(directory)).toBe("4 symbolic links");
  });

  it("counts one link as one, and does not count what version control keeps", async () => {
    const directory = await directoryWith({
      ".git/HEAD": "ref",
      "a.txt": "x",
      "sub/.git": "gitdir: elsewhere",
    });
    await symlink("a.txt", join(directory, "b.txt"));
    expect(await pathsOf(directory)).toEqual(["/a.txt"]);
    expect(await leftOutOf(directory)).toBe("1 symbolic link");
  });

  it("leaves out where the run writes to, unless that is the directory itself or empty", async () => {
    const directory = await realpath(await directoryWith({ "a.txt": "x", "sub/out/old.md": "x" }));
    const read = async (path: string, out: string): Promise<[string[], string]> => {
      const { files, leftOut } = await readWorkspace(path, WORKSPACE_LIMITS, { out });
      return [Object.keys(files), leftOutWords(leftOut, WORKSPACE_LIMITS)];
    };
    const out = join(directory, "sub", "out");
    expect(await read(directory, out)).toEqual([["/a.txt"], "the --out directory"]);
    expect(await read(out, out)).toEqual([["/old.md"], ""]);
    await mkdir(join(directory, "new"));
    expect(await read(directory, join(directory, "new"))).toEqual([["/a.txt", "/sub/out/old.md"], ""]);
  });

  it("leaves out names that no path of an agent can carry", async () => {
    const directory = await directoryWith({ "ok.txt": "x" });
    for (const name of ["evil\x1b[2J.txt", "new\nline", "back\\slash", "dot.", "rtl\u202e.txt"])
      await writeFile(join(directory, name), "x");
    await mkdir(join(directory, "C:"));
    expect(await pathsOf(directory)).toEqual(["/ok.txt"]);
    expect(await leftOutOf(directory)).toBe("6 with names an agent cannot use");
  });

  it("takes a single file", async () => {
    const directory = await directoryWith({ "a.txt": "x", "b.txt": "x" });
    expect(await pathsOf(join(directory, "a.txt"))).toEqual(["/a.txt"]);
  });

  it("says when there is nothing of that name", async () => {
    await expect(pathsOf("/does/not/exist")).rejects.toThrow("There is no directory '/does/not/exist'");
  });
});
