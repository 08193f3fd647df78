import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { openRecords } from "./open-records.ts";
import type { ServerRecords } from "./records.ts";
import { recordsSuite } from "./records-suite-for-tests.ts";

let directory: string;
let path: string;
let records: ServerRecords;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "deepwright-records-"));
  path = join(directory, "state.db");
  records = await openRecords({ sqlite: path }, { lookEvery: 0.05 });
});

afterAll(async () => {
  await records.close();
  await rm(directory, { recursive: true, force: true });
});

recordsSuite("records in an SQLite file", {
  records: () => records,
  again: () => openRecords({ sqlite: path }, { lookEvery: 0.05 }),
});
