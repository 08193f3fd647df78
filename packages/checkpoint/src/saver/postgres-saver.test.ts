import { afterAll } from "vitest";
import { PostgresSaver } from "../postgres/index.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { saverSuite } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";

const databases: TestDatabase[] = [];
const storages = new WeakMap<SharedSaver, TestDatabase>();

async function openAt(database: TestDatabase): Promise<SharedSaver> {
  const saver = await PostgresSaver.open(database.url);
  storages.set(saver, database);
  return saver;
}

async function open(): Promise<SharedSaver> {
  const database = await testDatabase();
  databases.push(database);
  return openAt(database);
}

async function reopen(saver: SharedSaver): Promise<SharedSaver> {
  await saver.close();
  return openAt(storages.get(saver) as TestDatabase);
}

/** Deleted space is free for others at once, and given back by a vacuum. */
async function size(saver: SharedSaver): Promise<number> {
  await storages.get(saver)?.query("VACUUM FULL");
  return saver.size();
}

afterAll(() => Promise.all(databases.map((database) => database.drop())));

saverSuite("PostgresSaver", open, { reopen, runs: 10, size });
