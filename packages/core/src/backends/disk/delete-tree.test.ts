import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { deleteAt } from "./delete-tree.ts";
import { diskTree } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";
import { ContainedRoot } from "./root/contained-root.ts";

const linux = process.platform === "linux";

it.runIf(linux)("a directory with names that are not UTF-8 can be deleted, in a run too", async () => {
  const { root } = diskTree();
  const odd = Buffer.concat([Buffer.from(`${root}/dir/`), Buffer.from([0x61, 0xff])]);
  mkdirSync(odd, { recursive: true });
  writeFileSync(Buffer.concat([odd, Buffer.from("/file")]), "x");
  writeFileSync(Buffer.concat([odd, Buffer.from([0x2e, 0xfe])]), "y");
  const recorded: string[] = [];
  const record = async ({ path }: { path: string }) => void recorded.push(path);
  const request = { root: new ContainedRoot(root), path: "/dir", record };
  expect(await deleteAt(request)).toEqual({ path: "/dir" });
  expect(existsSync(join(root, "dir"))).toBe(false);
  expect(recorded).toEqual(["/dir/a\ufffd/file"]);
});

it("what vanishes while a directory is being deleted is no failure", async () => {
  const { root } = diskTree();
  for (const name of ["a", "b", "c"]) {
    mkdirSync(join(root, "dir", name), { recursive: true });
    writeFileSync(join(root, "dir", name, "file"), name);
  }
  let isFirst = true;
  const refuse = async (path: string) => {
    if (isFirst && path.startsWith("/dir/")) {
      isFirst = false;
      for (const name of readdirSync(join(root, "dir")))
        renameSync(join(root, "dir", name), join(root, name));
    }
    return undefined;
  };
  const request = { root: new ContainedRoot(root), path: "/dir", refuse };
  expect(await deleteAt(request)).toEqual({ path: "/dir" });
  expect(readdirSync(root).sort()).toEqual(["a", "b", "c"]);
});

it.each([false, true])(
  "FS-23 the root stays by its real name too, and what it lies in, with allowOutsideRoot %s",
  async (allowOutsideRoot) => {
    const { root } = diskTree();
    mkdirSync(join(root, "real/sub"), { recursive: true });
    writeFileSync(join(root, "real/sub/a.txt"), "a");
    symlinkSync("real", join(root, "link"));
    const backend = new FilesystemBackend({ rootDir: join(root, "link"), allowOutsideRoot });
    for (const path of [join(root, "link"), join(root, "real"), root])
      expect((await backend.delete(path)).error, path).toBeDefined();
    expect(readdirSync(join(root, "real/sub"))).toEqual(["a.txt"]);
    expect(await backend.delete(join(root, "real/sub"))).toMatchObject({ path: join(root, "real/sub") });
    expect(readdirSync(join(root, "real"))).toEqual([]);
  },
);

it("nothing goes where something deep inside steers other programs", async () => {
  const { root } = diskTree();
  mkdirSync(join(root, "dir/sub/.git"), { recursive: true });
  writeFileSync(join(root, "dir/a.txt"), "a");
  const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
  expect(await backend.delete("/dir")).toMatchObject({ code: "APPROVAL_REQUIRED" });
  expect(readdirSync(join(root, "dir")).sort()).toEqual(["a.txt", "sub"]);
});
