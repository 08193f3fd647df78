import { afterAll, beforeAll } from "vitest";
import { storageSuite } from "../storage/storage-suite-for-tests.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { openPostgresStorage } from "./postgres-storage.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

storageSuite("Postgres", async () => {
  await database.clear();
  return openPostgresStorage(database.url);
});
