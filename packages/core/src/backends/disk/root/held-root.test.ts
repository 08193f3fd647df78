import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../../../../scripts/test-time.ts";
import { LocalShellBackend } from "../../shell/local-shell.ts";
import { type DiskTree, diskTree } from "../disk-tree-for-tests.ts";
import { FilesystemBackend } from "../filesystem.ts";
import { type OpenStrategy, usualStrategy } from "./open-directory.ts";

const strategies: OpenStrategy[] = usualStrategy() === "descriptor" ? ["descriptor", "path"] : ["path"];
const GONE = { code: "UNAVAILABLE", error: expect.stringContaining("removed or replaced") };

let tree: DiskTree;

beforeEach(() => {
  tree = diskTree();
  writeFileSync(join(tree.root, "a.txt"), "old");
});

/** Every operation, one after another. */
async function everything(backend: FilesystemBackend): Promise<unknown[]> {
  return [
    await backend.read("/a.txt"),
    await backend.ls("/"),
    await backend.grep("old"),
    await backend.glob("**"),
    await backend.edit("/a.txt", "old", "changed"),
    await backend.write("/new/b.txt", "new"),
    await backend.delete("/a.txt"),
  ];
}

describe.each(strategies)("a root that is in use, directories held by %s", (openStrategy) => {
  const replacements: Record<string, () => void> = {
    removed: () => rmSync(tree.root, { recursive: true }),
    moved: () => renameSync(tree.root, `${tree.root}-moved`),
    "moved and made again": () => {
      renameSync(tree.root, `${tree.root}-moved`);
      mkdirSync(tree.root);
      writeFileSync(join(tree.root, "a.txt"), "old");
    },
    "removed and made again": () => {
      // While it is open, no disk gives its number to another directory.
      const held = openSync(tree.root, "r");
      rmSync(tree.root, { recursive: true });
      mkdirSync(tree.root);
      closeSync(held);
      writeFileSync(join(tree.root, "a.txt"), "old");
    },
  };

  it.each(Object.keys(replacements))(
    "and is %s is an error that says so, and nothing is changed",
    async (how) => {
      const backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true, openStrategy });
      expect(await backend.read("/a.txt")).toMatchObject({ content: "old" });
      replacements[how]?.();
      const names = readdirSync(join(tree.root, ".."), { recursive: true }).sort();
      for (const result of await everything(backend)) expect(result).toMatchObject(GONE);
      expect(readdirSync(join(tree.root, ".."), { recursive: true }).sort()).toEqual(names);
    },
  );

  it("and replaced can be used by a new backend, and by this one after it was closed", async () => {
    const backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true, openStrategy });
    await backend.read("/a.txt");
    replacements["moved and made again"]?.();
    await backend.close();
    await backend.close();
    expect(await backend.edit("/a.txt", "old", "new")).toMatchObject({ occurrences: 1 });
    expect(readFileSync(join(tree.root, "a.txt"), "utf8")).toBe("new");
    expect(readFileSync(join(`${tree.root}-moved`, "a.txt"), "utf8")).toBe("old");
  });
});

it("a root that is made by the first write is held from then on", async () => {
  const rootDir = join(tree.root, "later");
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  expect(await backend.read("/a.txt")).toMatchObject({ code: "FILE_NOT_FOUND" });
  expect(await backend.write("/a.txt", "new")).toEqual({ path: "/a.txt" });
  renameSync(rootDir, `${rootDir}-moved`);
  mkdirSync(rootDir);
  expect(await backend.write("/b.txt", "new")).toMatchObject(GONE);
});

/** How many descriptors lead to a directory. */
function held(directory: string): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === directory;
    } catch {
      return false;
    }
  }).length;
}

describe.skipIf(usualStrategy() !== "descriptor")("the descriptor of a root", () => {
  it("is one for a backend, and is closed with it", async () => {
    for (const Backend of [FilesystemBackend, LocalShellBackend]) {
      const backend = new Backend({ rootDir: tree.root, virtualMode: true });
      expect(held(tree.root)).toBe(0);
      await everything(backend);
      expect(held(tree.root)).toBe(1);
      await backend.close();
      expect(held(tree.root)).toBe(0);
    }
  });

  it("is closed when a backend that nobody closed is forgotten", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    for (let i = 0; i < 20; i++)
      await new FilesystemBackend({ rootDir: tree.root, virtualMode: true }).read("/a.txt");
    expect(held(tree.root)).toBeGreaterThan(0);
    await until(() => {
      collect();
      return held(tree.root) === 0;
    });
  });
});
