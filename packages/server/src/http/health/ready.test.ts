import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { faultyProxy } from "../../../../checkpoint/src/test-support/faulty-proxy.ts";
import { testDatabase } from "../../../../checkpoint/src/test-support/postgres.ts";
import { startServer } from "../../server-for-tests.ts";

test("/ready answers 200 on SQLite, without a token only where health is open", async () => {
  for (const openHealth of [false, true]) {
    const server = await startServer({ openHealth });
    onTestFinished(() => server.close());
    expect(await server.call("GET", "/ready")).toMatchObject({ status: 200, body: { ready: true } });
    expect((await fetch(`${server.url}/ready`)).status).toBe(openHealth ? 200 : 401);
  }
});

test("/ready says why it is not while the database is away or silent, /ok stays 200, and both are well after it", async () => {
  const database = await testDatabase();
  onTestFinished(() => database.drop());
  const proxy = await faultyProxy(database.url);
  onTestFinished(() => proxy.close());
  const server = await startServer({
    database: proxy.url,
    databaseTimeout: 1,
    role: "api",
    limits: { readyMs: 100 },
  });
  onTestFinished(() => server.close());
  await eventually(async () => expect((await server.call("GET", "/ready")).status).toBe(200));
  proxy.swallow();
  proxy.swallowsNew = true;
  const late = await server.call("GET", "/ready");
  expect(late).toMatchObject({
    status: 503,
    body: { code: "UNAVAILABLE", message: "The database has not answered within 0.1 s." },
  });
  expect(late.headers.get("retry-after")).toBe("1");
  expect((await server.call("GET", "/ok")).status).toBe(200);
  proxy.swallowsNew = false;
  proxy.swallow();
  await eventually(async () => expect((await server.call("GET", "/ready")).status).toBe(200));
});

test("/ready names the failure of a database and nothing more of it", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  await server.app.storage.records.close();
  expect(await server.call("GET", "/ready")).toMatchObject({
    status: 503,
    body: { message: "The database failed: STORAGE_CLOSED." },
  });
});
