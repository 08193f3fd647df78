import { afterAll, beforeAll } from "vitest";
import { homeSuite } from "../home/home-suite-for-tests.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { openPostgresHome } from "./postgres-home.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

homeSuite("Postgres", async () => {
  await database.clear();
  return openPostgresHome(database.url);
});
