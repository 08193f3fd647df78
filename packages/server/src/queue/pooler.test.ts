/** Servers on a database behind PgBouncer in transaction mode, where nobody has a session of its own. */
import { Client } from "@langchain/langgraph-sdk";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { startServer, TOKEN } from "../server-for-tests.ts";
import { startPooler } from "./pooler-for-tests.ts";

const RUNS = 24;

test("behind a pooler in transaction mode runs are begun, executed by two workers and read to their end", async () => {
  const database = await testDatabase();
  onTestFinished(() => database.drop());
  const pooler = await startPooler(database.url);
  onTestFinished(() => pooler.close());
  const errors: unknown[] = [];
  const start = async (role: "api" | "worker") => {
    const server = await startServer({
      database: pooler.url,
      role,
      onError: (error) => errors.push(error),
    });
    onTestFinished(() => server.close());
    return server;
  };
  const [api, ...workers] = await Promise.all([start("api"), start("worker"), start("worker")]);
  const client = new Client({ apiUrl: api.url, apiKey: TOKEN });
  await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const { thread_id } = await client.threads.create();
      const input = { messages: [{ role: "user", content: `m${index}` }] };
      const { run_id } = await client.runs.create(thread_id, "echo", { input });
      const seen: { id?: string; event: string }[] = [];
      for await (const part of client.runs.joinStream(thread_id, run_id)) seen.push(part);
      expect(seen.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
      const state = await client.threads.getState<{ messages: { content: string }[] }>(thread_id);
      expect(state.values.messages.map(({ content }) => content)).toEqual([`m${index}`, `echo: m${index}`]);
    }),
  );
  for (const worker of workers) await expect.poll(() => worker.app.runs.active).toBe(0);
  expect(errors).toEqual([]);
});
