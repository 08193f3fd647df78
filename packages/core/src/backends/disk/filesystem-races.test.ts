import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { PATIENCE_MS } from "../../../../../scripts/test-time.ts";
import { type DiskTree, diskTree, SECRET } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";
import { usualStrategy } from "./root/open-directory.ts";

const ROUNDS = Math.round(150 * Number(process.env.TEST_RUNS_FACTOR ?? 1));

/** Swaps a name in the root for a link to outside and back, as fast as it can. */
const SWAPPER = `
  const fs = require("node:fs");
  const { root, name, target } = require("node:worker_threads").workerData;
  const path = root + "/" + name, kept = root + "/kept-" + name;
  const quietly = (act) => { try { act(); } catch {} };
  const pause = () => { for (let left = Math.random() * 50_000; left > 0; left--); };
  const clear = () => {
    if (!fs.existsSync(kept)) return;
    try { fs.unlinkSync(path); } catch { fs.rmSync(path, { recursive: true, force: true }); }
  };
  for (;;) {
    for (const step of [
      () => fs.renameSync(path, kept), clear, () => fs.symlinkSync(target, path), pause,
      clear, () => fs.renameSync(kept, path), pause, pause,
    ]) quietly(step);
  }
`;

let tree: DiskTree;
let backend: FilesystemBackend;
let outside: string;

beforeEach(() => {
  tree = diskTree();
  outside = tree.outside();
  backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true });
  mkdirSync(join(tree.root, "dir"));
  writeFileSync(join(tree.root, "dir/secret.txt"), "harmless\n");
  writeFileSync(join(tree.root, "file"), "harmless\n");
});

async function swapping(name: string, target: string): Promise<void> {
  const worker = new Worker(SWAPPER, { eval: true, workerData: { root: tree.root, name, target } });
  onTestFinished(async () => void (await worker.terminate()));
  await new Promise((resolve) => worker.once("online", resolve));
}

/** As text, so that a secret in it is seen. */
async function download(path: string): Promise<string> {
  const [file] = await backend.downloadFiles([path]);
  return file?.content ? Buffer.from(file.content).toString() : String(file?.error);
}

const contained = it.skipIf(usualStrategy() !== "descriptor");

contained("a directory swapped for a link while it is used never leads outside", async () => {
  await swapping("dir", "../workspace-evil");
  const seen: string[] = [];
  const end = Date.now() + PATIENCE_MS;
  const real = '"path":"/dir/secret.txt","is_dir":false,"size":9,';
  let realSeen = false;
  for (let round = 0; round < ROUNDS || (!realSeen && Date.now() < end); round++) {
    const results = [
      await backend.write(`/dir/new-${round}`, "1"),
      await backend.edit("/dir/secret.txt", "harmless", "harmless"),
      await backend.edit("/dir/secret.txt", "SECRET", "stolen"),
      await backend.append("/dir/log", "x"),
      await backend.read("/dir/secret.txt"),
      await backend.readRaw("/dir/deep/other.txt"),
      await backend.ls("/dir"),
      await backend.uploadFiles([["/dir/up", Buffer.from("1")]]),
      await download("/dir/secret.txt"),
      await backend.delete(`/dir/new-${round}`),
      await backend.delete("/dir/deep"),
    ];
    if (round % 20 === 0)
      results.push((await backend.grep("SECRET")) as never, (await backend.glob("**")) as never);
    seen.push(JSON.stringify(results));
    realSeen ||= seen.at(-1)?.includes(real) ?? false;
  }
  expect(tree.outside()).toBe(outside);
  const all = seen.join("\n");
  expect(all.includes(SECRET)).toBe(false);
  expect(all.includes('other.txt","is_dir')).toBe(false);
  expect(all.includes(`"path":"/dir/secret.txt","is_dir":false,"size":${SECRET.length + 1},`)).toBe(false);
  expect(realSeen).toBe(true);
});

contained("a file swapped for a link while it is used never leads outside", async () => {
  await swapping("file", "../workspace-evil/secret.txt");
  const seen: string[] = [];
  for (let round = 0; round < ROUNDS; round++)
    seen.push(
      JSON.stringify([
        await backend.read("/file"),
        await backend.append("/file", "x"),
        await backend.edit("/file", "SECRET", "stolen"),
        await backend.write("/file", "mine", { overwrite: true }),
        await download("/file"),
      ]),
    );
  expect(tree.outside()).toBe(outside);
  expect(seen.join("\n").includes(SECRET)).toBe(false);
});

/** Reads a file until it is told to stop, and says how often it was not as it must be. */
const READER = `
  const fs = require("node:fs");
  const { parentPort, workerData } = require("node:worker_threads");
  let reads = 0, torn = 0, stopped = false;
  parentPort.once("message", () => { stopped = true; });
  (function again() {
    const text = fs.readFileSync(workerData, "utf8");
    reads += 1;
    if (text !== "a".repeat(200_000) && text !== "b".repeat(200_000)) torn += 1;
    if (stopped) parentPort.postMessage({ reads, torn }); else setImmediate(again);
  })();
`;

it("a reader beside a writer always sees a whole file", async () => {
  await backend.write("/whole", "a".repeat(200_000));
  const reader = new Worker(READER, { eval: true, workerData: join(tree.root, "whole") });
  onTestFinished(async () => void (await reader.terminate()));
  await new Promise((resolve) => reader.once("online", resolve));
  for (let round = 0; round < 300; round++) {
    const text = (round % 2 ? "a" : "b").repeat(200_000);
    expect(await backend.write("/whole", text, { overwrite: true })).toEqual({ path: "/whole" });
  }
  const counted = new Promise<{ reads: number; torn: number }>((resolve) => reader.once("message", resolve));
  reader.postMessage("stop");
  const { reads, torn } = await counted;
  expect(torn).toBe(0);
  expect(reads).toBeGreaterThan(0);
});
