import { linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type DiskTree, diskTree } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";

const linux = process.platform === "linux";

let tree: DiskTree;
let backend: FilesystemBackend;

beforeEach(() => {
  tree = diskTree();
  backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true });
});

function put(path: string, content: string | Uint8Array): void {
  const parent = join(tree.root, path, "..");
  mkdirSync(parent, { recursive: true });
  writeFileSync(join(tree.root, path), content);
}

describe("ls", () => {
  it("lists what is there in the order of paths, directories with a slash", async () => {
    put("b/file", "1");
    put("b.txt", "12");
    put("a", "");
    symlinkSync("b", join(tree.root, "link"));
    symlinkSync("b.txt", join(tree.root, "link.txt"));
    symlinkSync("../workspace-evil/secret.txt", join(tree.root, "out"));
    const { files = [] } = await backend.ls("/");
    expect(files.map(({ path, is_dir, size }) => [path, is_dir, size])).toEqual([
      ["/a", false, 0],
      ["/b.txt", false, 2],
      ["/b/", true, undefined],
      ["/link.txt", false, 2],
      ["/link/", true, undefined],
      ["/out", false, undefined],
    ]);
    expect(files[1]?.modified_at).toBe(statSync(join(tree.root, "b.txt")).mtime.toISOString());
    expect(await backend.ls("/link")).toMatchObject({ files: [{ path: "/link/file" }] });
  });

  it.skipIf(!linux)("reports names that no path can spell instead of dropping them", async () => {
    put("a\nb", "1");
    put("trailing.", "1");
    put("back\\slash", "1");
    writeFileSync(Buffer.concat([Buffer.from(`${tree.root}/`), Buffer.from([0x66, 0xff])]), "1");
    const listed = await backend.ls("/");
    expect(listed.files).toEqual([]);
    const skipped = (listed.error === undefined && listed.skipped) || [];
    expect(skipped.map(({ path }) => path).sort()).toEqual([
      "/a\\u000ab",
      "/back\\slash",
      "/f\ufffd",
      "/trailing.",
    ]);
    expect(new Set(skipped.map(({ code }) => code))).toEqual(new Set(["INVALID_PATH"]));
  });

  it("lists 10,000 entries without keeping others waiting", async () => {
    put("first", "");
    for (let number = 0; number < 10_000; number++)
      linkSync(join(tree.root, "first"), join(tree.root, `f${number}`));
    let turns = 0;
    const watch = setInterval(() => {
      turns += 1;
    }, 1);
    const { files } = await backend.ls("/");
    clearInterval(watch);
    expect(files).toHaveLength(10_001);
    expect(turns).toBeGreaterThan(1);
  });
});
