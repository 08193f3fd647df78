import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { type DiskTree, diskTree } from "./disk-tree-for-tests.ts";

const linux = process.platform === "linux";
const root = process.getuid?.() === 0;

let tree: DiskTree;

beforeEach(() => {
  tree = diskTree();
});

function put(path: string, content: string): void {
  mkdirSync(join(tree.root, path, ".."), { recursive: true });
  writeFileSync(join(tree.root, path), content);
}

/** A program in a process of its own, where the user or the disk is another. */
const PROGRAM = `
  const { FilesystemBackend } = await import(${JSON.stringify(new URL("./filesystem.ts", import.meta.url).href)});
  const [rootDir, uid] = process.argv.slice(1);
  if (uid) { process.setgid(Number(uid)); process.setuid(Number(uid)); }
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
`;

function run(code: string, ...args: string[]): unknown {
  const script = `${PROGRAM} console.log(JSON.stringify(await (async () => { ${code} })()))`;
  const flags = ["--import", "tsx", "--conditions=source", "--input-type=module", "-e"];
  const child = spawnSync(process.execPath, [...flags, script, ...args], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

it.skipIf(!linux || !root)("what the system forbids is a typed failure", () => {
  put("open/file", "1");
  put("open/fixed", "1");
  put("closed/file", "1");
  chmodSync(join(tree.root, ".."), 0o755);
  chmodSync(join(tree.root, "open"), 0o777);
  chmodSync(join(tree.root, "open/fixed"), 0o444);
  chmodSync(join(tree.root, "closed"), 0o711);
  const codes = run(
    `const results = [
       await backend.edit("/open/fixed", "1", "2"), await backend.write("/closed/new", "1"),
       await backend.ls("/closed"), await backend.delete("/closed/file"), await backend.read("/closed/file"),
       await backend.write("/open/new", "1"),
     ];
     return results.map((result) => result.code ?? "done");`,
    tree.root,
    "65534",
  );
  const denied = "PERMISSION_DENIED";
  expect(codes).toEqual([denied, denied, denied, denied, "done", "done"]);
  expect(readdirSync(join(tree.root, "open")).sort()).toEqual(["file", "fixed", "new"]);
});

/** In a mount namespace of its own; for those who are not root in a user namespace, too. */
const NAMESPACE = root ? ["-m"] : ["-Urm"];

it.skipIf(!linux)("a full disk is a typed failure that leaves no part of a file behind", () => {
  const script = `${PROGRAM}
    const { readdirSync, readFileSync, writeFileSync } = await import("node:fs");
    writeFileSync(rootDir + "/log", "whole\\n");
    const big = "x".repeat(3 * 1024 * 1024);
    const codes = [];
    for (const result of [
      await backend.write("/big", big), await backend.append("/log", big), await backend.edit("/log", "whole", big),
      await backend.write("/log", big, { overwrite: true }),
    ]) codes.push(result.code);
    console.log(JSON.stringify({ codes, names: readdirSync(rootDir), log: readFileSync(rootDir + "/log", "utf8") }));`;
  const flags = ["--import", "tsx", "--conditions=source", "--input-type=module", "-e"];
  const command = 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"';
  const child = spawnSync(
    "unshare",
    [...NAMESPACE, "sh", "-c", command, "sh", tree.root, process.execPath, ...flags, script, tree.root],
    { encoding: "utf8" },
  );
  expect(child.stderr).toBe("");
  const full = "STORAGE_FULL";
  expect(JSON.parse(child.stdout)).toEqual({
    codes: [full, full, full, full],
    names: ["log"],
    log: "whole\n",
  });
});

it.skipIf(!linux)(
  "what is mounted in a directory is not deleted with it, nor by itself, and nothing else goes",
  () => {
    put("dir/a.txt", "1");
    put("dir/mounted/hidden", "1");
    put("elsewhere/kept.txt", "1");
    const script = `${PROGRAM}
    const { readdirSync } = await import("node:fs");
    const results = [await backend.delete("/dir"), await backend.delete("/dir/mounted"), await backend.delete("/elsewhere")];
    const names = readdirSync(rootDir, { recursive: true }).sort();
    console.log(JSON.stringify([names, ...results]));`;
    const flags = ["--import", "tsx", "--conditions=source", "--input-type=module", "-e"];
    const command = 'mount --bind "$1/elsewhere" "$1/dir/mounted" && shift && exec "$@"';
    const child = spawnSync(
      "unshare",
      [...NAMESPACE, "sh", "-c", command, "sh", tree.root, process.execPath, ...flags, script, tree.root],
      { encoding: "utf8" },
    );
    expect(child.stderr).toBe("");
    const code = "PERMISSION_DENIED";
    expect(JSON.parse(child.stdout)).toEqual([
      ["dir", "dir/a.txt", "dir/mounted"],
      { error: "Cannot delete /dir because /dir/mounted in it is a mount point", code },
      { error: "Cannot delete /dir/mounted because it is a mount point", code },
      { path: "/elsewhere" },
    ]);
  },
);
