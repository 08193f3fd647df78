import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { SqliteSaver } from "../sqlite/index.ts";
import { saverSuite } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";

const directories: string[] = [];
const paths = new WeakMap<SharedSaver, string>();

async function openAt(path: string): Promise<SharedSaver> {
  const saver = await SqliteSaver.open(path);
  paths.set(saver, path);
  return saver;
}

async function open(): Promise<SharedSaver> {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-saver-"));
  directories.push(directory);
  return openAt(join(directory, "state.db"));
}

async function reopen(saver: SharedSaver): Promise<SharedSaver> {
  await saver.close();
  return openAt(paths.get(saver) as string);
}

afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

saverSuite("SqliteSaver", open, { reopen, runs: 20 });
