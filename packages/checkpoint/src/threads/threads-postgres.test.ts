import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PostgresSaver } from "../postgres/index.ts";
import { SqliteSaver } from "../sqlite/index.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { copyThreads } from "./copy-threads.ts";
import { openThreads } from "./open-threads.ts";
import { linesOf, newName, ThreadMaker } from "./thread-for-tests.ts";
import { threadsSuite } from "./threads-suite-for-tests.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

threadsSuite("Postgres", async () => {
  await database.clear();
  return PostgresSaver.open(database.url);
});

describe("from SQLite to Postgres", () => {
  it("everything is there afterwards, under the same ids", async () => {
    const directory = await mkdtemp(join(tmpdir(), "deepwright-threads-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await using from = await SqliteSaver.open(join(directory, "state.db"));
    await using to = await PostgresSaver.open(database.url);
    const ids = [newName(), newName()];
    for (const id of ids) {
      const maker = new ThreadMaker(from, id);
      await maker.put("input", { "/a": "NUL \0 and half \ud800".repeat(300) });
      await maker.put("loop", { "/a": "changed" });
    }
    expect(await copyThreads(from, to)).toEqual({ copied: 2, existing: [] });
    for (const id of ids)
      expect(await linesOf(openThreads(to).export(id))).toEqual(await linesOf(openThreads(from).export(id)));
    await expect(openThreads(to).backup("x")).rejects.toMatchObject({
      code: "NOT_SUPPORTED",
      message: expect.stringContaining("pg_dump"),
    });
  });
});
