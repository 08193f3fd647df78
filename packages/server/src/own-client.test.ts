/** Our own client against the server in the same process: every answer is checked against its schema. */
import { createClient } from "@deepwright/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp, type ServerApp } from "./http/app.ts";
import { echoAgent } from "./server-for-tests.ts";

let app: ServerApp;
let client: ReturnType<typeof createClient>;
beforeAll(async () => {
  app = await createApp({ agents: { echo: echoAgent() }, drainMs: 1_000 });
  client = createClient({
    baseUrl: "http://localhost",
    token: app.token as string,
    fetch: ((url: string | URL | Request, init?: RequestInit) =>
      app.fetch(new Request(url, init))) as typeof fetch,
  });
});
afterAll(() => app.close());

const say = (content: string) => ({ assistant_id: "echo", input: { messages: [{ role: "user", content }] } });

test("answers are as their schemas say", async () => {
  expect(await client.ok()).toEqual({ ok: true });
  expect((await client.info()).flags).toMatchObject({ store: true });
  const { thread_id } = await client.threads.create({ metadata: { kind: "own" } });
  const run = await client.runs.create(thread_id, say("write /a.txt one"));
  await client.runs.join(thread_id, run.run_id);
  expect((await client.threads.get(thread_id)).status).toBe("idle");
  expect(await client.threads.history(thread_id)).not.toHaveLength(0);
  await client.threads.updateState(thread_id, { values: { messages: [{ role: "user", content: "more" }] } });
  await client.runs.wait(thread_id, say("ask"));
  const [waiting] = await client.threads.interrupts(thread_id);
  const answered = await client.call("threads.answerInterrupt", {
    parameters: { thread_id, interrupt_id: waiting?.id as string },
    body: { value: { decisions: [{ type: "approve" }] } },
  });
  await client.runs.join(thread_id, answered.run_id);
  await client.threads.diffFiles(thread_id);
  expect((await client.threads.search({ metadata: { kind: "own" } }))[0]?.thread_id).toBe(thread_id);
  expect((await client.threads.copy(thread_id)).thread_id).not.toBe(thread_id);
  for (const name of ["assistants.graph", "assistants.schemas", "assistants.subgraphs"] as const)
    await client.call(name, { parameters: { assistant_id: "echo" } });
  const cron = await client.call("crons.create", { body: { assistant_id: "echo", schedule: "0 0 * * *" } });
  await client.call("crons.delete", { parameters: { cron_id: cron.cron_id } });
});
