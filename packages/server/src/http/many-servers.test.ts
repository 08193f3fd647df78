/** One database, several servers: who begins a run, who works on it and who reads it need not be the same. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let database: TestDatabase;
let api: TestServer;
let worker: TestServer;
beforeAll(async () => {
  database = await testDatabase();
  api = await startServer({ database: database.url, role: "api" });
  worker = await startServer({ database: database.url, role: "worker" });
}, 60_000);
afterAll(async () => {
  await api?.close();
  await worker?.close();
  await database?.drop();
});

const say = (content: string) => ({ messages: [{ role: "user", content }] });

test("a run begun at one server is executed by another and read at both", async () => {
  const client = new Client({ apiUrl: api.url, apiKey: TOKEN });
  const other = new Client({ apiUrl: worker.url, apiKey: TOKEN });
  const { thread_id } = await client.threads.create();
  const streams: unknown[][] = [[], []];
  const { run_id } = await client.runs.create(thread_id, "echo", {
    input: say("wait 200"),
    streamMode: ["values", "messages-tuple"],
  });
  await Promise.all(
    [client, other].map(async (reader, index) => {
      for await (const part of reader.runs.joinStream(thread_id, run_id)) streams[index]?.push(part);
    }),
  );
  expect(streams[0]?.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
  expect(streams[1]).toEqual(streams[0]);
  expect(api.app.runs.active).toBe(0);
}, 30_000);

test("a run at work elsewhere is cancelled, and steered", async () => {
  const client = new Client({ apiUrl: api.url, apiKey: TOKEN });
  const { thread_id } = await client.threads.create();
  const run = await client.runs.create(thread_id, "echo", { input: say("wait 1500") });
  const status = async () => (await client.runs.get(thread_id, run.run_id)).status;
  await expect.poll(status, { timeout: 10_000 }).toBe("running");
  await api.call("POST", `/threads/${thread_id}/messages`, { kind: "steer", content: "more" });
  const values = (await client.runs.join(thread_id, run.run_id)) as { messages: { content: string }[] };
  expect(values.messages.map(({ content }) => content)).toContain("more");
  const slow = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
  await expect
    .poll(async () => (await client.runs.get(thread_id, slow.run_id)).status, { timeout: 10_000 })
    .toBe("running");
  await client.runs.cancel(thread_id, slow.run_id, true);
  expect((await client.runs.get(thread_id, slow.run_id)).status).toBe("interrupted");
}, 60_000);
