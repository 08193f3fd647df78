/** LangGraph's own suite for savers, whole, on every storage. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vitest from "vitest";
import { PostgresSaver } from "../postgres/index.ts";
import { SqliteSaver } from "../sqlite/index.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { SharedMemorySaver } from "./shared-memory-saver.ts";
import type { SharedSaver } from "./shared-saver.ts";

// The suite expects the runner's functions to be global.
Object.assign(globalThis, vitest);
const { validate } = await import("@langchain/langgraph-checkpoint-validation");

validate({
  checkpointerName: "SharedMemorySaver",
  createCheckpointer: () => new SharedMemorySaver(),
});

const folder = mkdtempSync(join(tmpdir(), "deepwright-validation-"));
let files = 0;

validate<SharedSaver>({
  checkpointerName: "SqliteSaver",
  afterAll: () => rmSync(folder, { recursive: true }),
  createCheckpointer: () => {
    files += 1;
    return SqliteSaver.open(join(folder, `${files}.db`));
  },
  destroyCheckpointer: (saver) => saver.close(),
});

let database: TestDatabase;
let open: PostgresSaver | undefined;

/** One set of tables for the whole suite, emptied for every saver. */
validate<SharedSaver>({
  checkpointerName: "PostgresSaver",
  beforeAll: async () => {
    database = await testDatabase();
    open = await PostgresSaver.open(database.url);
  },
  beforeAllTimeout: 600_000,
  afterAll: async () => {
    await open?.close();
    await database.drop();
  },
  createCheckpointer: () => PostgresSaver.open(database.url),
  destroyCheckpointer: async (saver) => {
    const threads = await saver.storage.listThreads({ limit: 1_000 });
    for (const { threadId } of threads) await saver.deleteThread(threadId);
    await saver.close();
  },
});
