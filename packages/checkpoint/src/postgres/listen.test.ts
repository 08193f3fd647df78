import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { listenPostgres } from "./listen.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

const LISTENERS = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`;

function call(payload: string): Promise<unknown> {
  return database.query("SELECT pg_notify('news', $1)", [payload]);
}

test("all who hear one channel share one connection, which ends with the last of them", async () => {
  const heard: (string | undefined)[][] = [[], []];
  const stops = heard.map((list) => listenPostgres(database.url, "news", (payload) => list.push(payload)));
  await eventually(() => expect(heard[1]).toEqual([undefined]));
  await call("one");
  await eventually(() =>
    expect(heard).toEqual([
      [undefined, "one"],
      [undefined, "one"],
    ]),
  );
  expect(await database.query(LISTENERS)).toHaveLength(1);
  await stops[0]?.();
  await call("two");
  await eventually(() => expect(heard[1]).toEqual([undefined, "one", "two"]));
  expect(heard[0]).toHaveLength(2);
  await stops[1]?.();
  await eventually(async () => expect(await database.query(LISTENERS)).toEqual([]));
});

test("a connection that breaks is made again, and those who hear are told that they may have missed something", async () => {
  const heard: (string | undefined)[] = [];
  const stop = listenPostgres(database.url, "news", (payload) => heard.push(payload));
  await eventually(() => expect(heard).toEqual([undefined]));
  await database.query(`SELECT pg_terminate_backend(pid) FROM (${LISTENERS}) AS listening`);
  await eventually(() => expect(heard).toEqual([undefined, undefined]));
  await call("again");
  await eventually(() => expect(heard).toEqual([undefined, undefined, "again"]));
  await stop();
});

test("an address where nobody answers is no failure, and can be given up", async () => {
  const heard = vi.fn();
  const stop = listenPostgres("postgresql://127.0.0.1:1/nothing", "news", heard);
  await new Promise((done) => setTimeout(done, 100));
  await stop();
  expect(heard).not.toHaveBeenCalled();
});
