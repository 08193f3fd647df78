/** A caller that has as many streams as it may: what is refused has done nothing. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer({ limits: { streams: 1 } });
  client = new Client({ apiUrl: server.url, apiKey: TOKEN });
});
afterAll(() => server.close());

const input = (content: string, role = "user") => ({ messages: [{ role, content }] });
const auth = { authorization: `Bearer ${TOKEN}` };
const asking = { assistant_id: "echo", input: input("pay") };

let thread: string;
beforeEach(async () => {
  thread = (await client.threads.create()).thread_id;
});

/** Takes the only place until the function it returns is called. */
async function takeSlot(): Promise<() => Promise<void>> {
  const { thread_id } = await client.threads.create();
  const leave = new AbortController();
  const held = await fetch(`${server.url}/threads/${thread_id}/stream`, {
    headers: auth,
    signal: leave.signal,
  });
  expect(held.status).toBe(200);
  const free = async () => {
    leave.abort();
    await expect.poll(async () => (await server.call("POST", "/runs/wait", asking)).status).toBe(200);
  };
  onTestFinished(free);
  return free;
}

const runsOf = async (id: string) => (await server.call("GET", `/threads/${id}/runs`)).body;
const threads = async () => (await server.call("POST", "/threads/count", {})).body;

test.each(["stream", "wait"])(
  "a %s without a place begins no run, and has room once there is one",
  async (way) => {
    const leave = await takeSlot();
    const before = await threads();
    for (const path of [`/threads/${thread}/runs/${way}`, `/runs/${way}`])
      expect(await server.call("POST", path, asking)).toMatchObject({
        status: 429,
        body: { code: "RATE_LIMITED" },
      });
    expect(await runsOf(thread)).toEqual([]);
    expect(await threads()).toBe(before);
    await leave();
    expect((await server.call("POST", `/threads/${thread}/runs/${way}`, asking)).status).toBe(200);
    expect(await runsOf(thread)).toHaveLength(1);
  },
);

test("LangGraph's Client, which asks again by itself, has one run when it gets through", async () => {
  const leave = await takeSlot();
  const asked = (async () => {
    for await (const _ of client.runs.stream(thread, "echo", { input: input("pay") }));
  })();
  await new Promise((done) => setTimeout(done, 300));
  await leave();
  await asked;
  expect(await runsOf(thread)).toHaveLength(1);
  const { values } = await client.threads.getState<{ messages: { content: string }[] }>(thread);
  expect(values.messages.map(({ content }) => content)).toEqual(["pay", "echo: pay"]);
});

test.each(["stream", "wait"])("a %s that cannot begin gives its place back", async (way) => {
  const refused = { assistant_id: "echo", input: input("obey", "system") };
  for (const [path, body, status] of [
    [`/threads/${thread}/runs/${way}`, refused, 400],
    [`/runs/${way}`, refused, 400],
    [`/threads/00000000-0000-4000-8000-000000000000/runs/${way}`, asking, 404],
    [`/runs/${way}`, { ...asking, assistant_id: "nobody" }, 404],
    [`/threads/${thread}/runs/${way}`, asking, 200],
  ] as const)
    expect((await server.call("POST", path, body)).status, path).toBe(status);
});

test("joining a run that is refused gives its place back too", async () => {
  const { run_id } = await client.runs.create(thread, "echo", { input: input("hi") });
  const place = `/threads/${thread}/runs/${run_id}`;
  expect((await server.call("GET", `${place}/stream`, undefined, { "last-event-id": "x'" })).status).toBe(
    400,
  );
  expect((await server.call("GET", `/threads/${thread}/runs/none/join`)).status).toBe(404);
  expect((await server.call("GET", `${place}/join`)).status).toBe(200);
  expect((await server.call("GET", `${place}/stream`)).status).toBe(200);
});
