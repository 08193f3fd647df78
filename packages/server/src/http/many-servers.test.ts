/** One database, several servers: who begins a run, who works on it and who reads it need not be the same. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { type TestDatabase, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { mailSeen } from "../runs/service-for-tests.ts";
import { PROMPT, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let database: TestDatabase;
let api: TestServer;
let worker: TestServer;
beforeAll(async () => {
  database = await testDatabase();
  const often = { burst: 100_000, perSecond: 100_000 };
  const limits = { runs: often, requests: often };
  api = await startServer({ database: database.url, role: "api", limits });
  worker = await startServer({ database: database.url, role: "worker", limits, runs: PROMPT, drainMs: 100 });
});
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
});

test("a run at work elsewhere is cancelled, and steered", async () => {
  const client = new Client({ apiUrl: api.url, apiKey: TOKEN });
  const go = join(worker.directory, "go");
  const { thread_id } = await client.threads.create();
  const run = await client.runs.create(thread_id, "echo", { input: say(`hold ${go}`) });
  // The tool is at work: a message that comes before would be read with the input.
  await expect.poll(async () => (await client.threads.getState(thread_id)).next).toContain("tools");
  await api.call("POST", `/threads/${thread_id}/messages`, { kind: "steer", content: "more" });
  await mailSeen(worker.app.storage);
  writeFileSync(go, "");
  const values = (await client.runs.join(thread_id, run.run_id)) as { messages: { content: string }[] };
  expect(values.messages.map(({ content }) => content)).toContain("more");
  const slow = await client.runs.create(thread_id, "echo", { input: say("wait 600000") });
  await expect.poll(async () => (await client.runs.get(thread_id, slow.run_id)).status).toBe("running");
  await client.runs.cancel(thread_id, slow.run_id, true);
  expect((await client.runs.get(thread_id, slow.run_id)).status).toBe("interrupted");
});

const PAIRS = sized(12, 300);
const THREADS = 10;
const post = (server: TestServer, thread: string, content: string, more: object = {}) =>
  server.call("POST", `/threads/${thread}/runs`, {
    assistant_id: "echo",
    input: say(content),
    if_not_exists: "create",
    ...more,
  });

test(`R-09: of ${PAIRS} pairs that are sent to two servers at once, on ${THREADS} threads, all are there, each message with its answer, in the order of the runs`, async () => {
  const onThread = async (thread: string): Promise<void> => {
    const wordOf = new Map<string, string>();
    for (let pair = 0; pair < PAIRS / THREADS; pair += 1) {
      const words = [`a${pair}`, `b${pair}`];
      const answers = await Promise.all(
        words.map((word, index) => post(index === pair % 2 ? worker : api, thread, word)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      for (const [index, { body }] of answers.entries()) wordOf.set(body.run_id, words[index] as string);
    }
    const { body: runs } = await api.call("GET", `/threads/${thread}/runs?limit=1000`);
    for (const { run_id } of runs) await api.call("GET", `/threads/${thread}/runs/${run_id}/join`);
    const { body: done } = await worker.call("GET", `/threads/${thread}`);
    const said = done.values.messages.map(({ content }: { content: string }) => content);
    const inOrder = runs.map(({ run_id }: { run_id: string }) => wordOf.get(run_id)).reverse();
    expect(inOrder).toHaveLength(wordOf.size);
    expect(said).toEqual(inOrder.flatMap((word: string) => [word, `echo: ${word}`]));
  };
  await Promise.all(Array.from({ length: THREADS }, (_, index) => onThread(`pairs-${index}`)));
});

test("R-09: of three requests that come at once to a thread one runs, and with `reject` the others get 409", async () => {
  for (let round = 0; round < 5; round += 1) {
    const thread = `three-${round}`;
    const begun = await Promise.all(
      [api, worker, api].map((server) =>
        post(server, thread, "wait 600000", { multitask_strategy: "reject" }),
      ),
    );
    expect(begun.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    for (const { status, body } of begun) if (status === 409) expect(body.code).toBe("THREAD_BUSY");
    expect((await api.call("GET", `/threads/${thread}/runs`)).body).toHaveLength(1);
  }
});
