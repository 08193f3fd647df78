/** Streams over a port: readers that come, leave, lag and come back. */
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { decodeEvents, type SseEvent } from "@deepwright/protocol";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { startServer, streamCounter, type TestServer, TOKEN } from "../server-for-tests.ts";

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer({ heartbeatMs: 100 });
  client = new Client({ apiUrl: server.url, apiKey: TOKEN });
});
afterAll(() => server.close());

const say = (content: string) => ({ messages: [{ role: "user", content }] });
const auth = { authorization: `Bearer ${TOKEN}` };

async function read(
  path: string,
  headers: Record<string, string> = {},
  { url } = server,
): Promise<SseEvent[]> {
  const response = await fetch(`${url}${path}`, { headers: { ...auth, ...headers } });
  expect(response.status).toBe(200);
  const events: SseEvent[] = [];
  for await (const event of decodeEvents(response.body!)) events.push(event);
  return events;
}

test("any number of readers see the same, whenever they come", async () => {
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, "echo", {
    input: say("wait 300"),
    streamMode: ["values", "messages-tuple"],
  });
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const early = Array.from({ length: 20 }, () => read(path));
  await new Promise((done) => setTimeout(done, 150));
  const during = Array.from({ length: 20 }, () => read(path));
  const [first, ...others] = await Promise.all([...early, ...during]);
  expect(first?.at(-1)?.event).toBe("end");
  for (const other of [...others, await read(path)]) expect(other).toEqual(first);
});

test("a reader that is cut off again and again misses nothing and sees nothing twice", async () => {
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, "echo", {
    input: say(`wait 400`),
    streamMode: ["values", "messages-tuple"],
  });
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const seen: SseEvent[] = [];
  while (seen.at(-1)?.event !== "end") {
    const last = seen.at(-1)?.id;
    const leave = new AbortController();
    const headers = { ...auth, ...(last !== undefined && { "last-event-id": last }) };
    const response = await fetch(`${server.url}${path}`, { headers, signal: leave.signal });
    let taken = 0;
    for await (const event of decodeEvents(response.body!)) {
      seen.push(event);
      if (++taken === 2) break;
    }
    leave.abort();
  }
  expect(seen).toEqual(await read(path));
});

test("a stream says that it closes with an end, unless there is nothing left of it", async () => {
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, "echo", { input: say("hi") });
  await client.runs.join(thread_id, run_id);
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const last = (await read(path)).at(-1)?.id as string;
  const promise = async (headers: Record<string, string>) => {
    const response = await fetch(`${server.url}${path}`, { headers: { ...auth, ...headers } });
    await response.text();
    return response.headers.get("x-stream-end");
  };
  expect(await promise({})).toBe("end");
  expect(await promise({ "last-event-id": last })).toBeNull();
});

test("an id that is none is refused, one behind the end is nothing more", async () => {
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, "echo", { input: say("hi") });
  await client.runs.join(thread_id, run_id);
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const wrong = await fetch(`${server.url}${path}`, { headers: { ...auth, "last-event-id": "x'; --" } });
  expect(wrong.status).toBe(400);
  const all = await read(path);
  expect(await read(path, { "last-event-id": all.at(-1)?.id as string })).toEqual([]);
  expect(await read(path, { "last-event-id": "999999" })).toEqual([]);
  expect(await read(path, { "last-event-id": "-1" })).toEqual(all);
});

test.each([
  ["stream", "cancel", "interrupted"],
  ["wait", "cancel", "interrupted"],
  ["stream", "continue", "success"],
] as const)(
  "R-13: who leaves a %s begun with on_disconnect %s leaves the run %s",
  async (way, onDisconnect, status) => {
    const wait = onDisconnect === "cancel" ? "wait 600000" : "wait 500";
    const { thread_id } = await client.threads.create();
    const leave = new AbortController();
    const response = await fetch(`${server.url}/threads/${thread_id}/runs/${way}`, {
      method: "POST",
      headers: { ...auth, "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input: say(wait), on_disconnect: onDisconnect }),
      signal: leave.signal,
    });
    const [, runId = ""] = /runs\/([^/]+)$/.exec(response.headers.get("content-location") ?? "") ?? [];
    await response.body!.getReader().read();
    const current = async () => (await client.runs.get(thread_id, runId)).status;
    if (onDisconnect === "cancel") await expect.poll(current).toBe("running");
    leave.abort();
    await expect.poll(current).toBe(status);
  },
);

test("waiting keeps the connection alive, and a client that leaves can cancel", async () => {
  const { thread_id } = await client.threads.create();
  const go = join(server.directory, "join");
  const { run_id } = await client.runs.create(thread_id, "echo", { input: say(`hold ${go}`) });
  const response = await fetch(`${server.url}/threads/${thread_id}/runs/${run_id}/join`, { headers: auth });
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    writeFileSync(go, "");
  }
  expect(text).toMatch(/^\n+\{/);
  expect(JSON.parse(text).messages.at(-1).content).toBe("done: held");
  const slow = await client.runs.create(thread_id, "echo", { input: say("wait 600000") });
  const leave = new AbortController();
  const path = `/threads/${thread_id}/runs/${slow.run_id}/join?cancel_on_disconnect=1`;
  const waiting = await fetch(`${server.url}${path}`, { headers: auth, signal: leave.signal });
  await waiting.body!.getReader().read();
  leave.abort();
  await expect.poll(async () => (await client.runs.get(thread_id, slow.run_id)).status).toBe("interrupted");
});

/** Asks for a stream and reads none of it. */
function stalled({ port }: TestServer, path: string): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
      done(socket);
    });
    socket.on("error", fail);
  });
}

test("a reader that takes nothing is cut off, costs little memory, and goes on where it was", async () => {
  const strict = await startServer({ heartbeatMs: 100, stallMs: 1_500 });
  onTestFinished(() => strict.close());
  const streams = streamCounter(strict);
  const client = new Client({ apiUrl: strict.url, apiKey: TOKEN });
  const { thread_id } = await client.threads.create();
  const files = { "/large.txt": { content: "x".repeat(6 * 1024 * 1024) } };
  const { run_id } = await client.runs.create(thread_id, "echo", {
    input: { files, ...say("hi") } as never,
    streamMode: ["values"],
  });
  await client.runs.join(thread_id, run_id);
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const before = process.memoryUsage().rss;
  const sockets = await Promise.all(Array.from({ length: 5 }, () => stalled(strict, path)));
  const closed = sockets.map((socket) => new Promise<void>((done) => socket.on("close", () => done())));
  await until(() => streams() === 5);
  await new Promise((done) => setTimeout(done, 300));
  // One event for each reader, whatever waits behind it.
  expect(process.memoryUsage().rss - before).toBeLessThan(5 * 32 * 1024 * 1024);
  await until(() => streams() === 0);
  for (const socket of sockets) socket.resume();
  await Promise.all(closed);
  const events = await read(path, {}, strict);
  expect(events.at(-1)?.event).toBe("end");
  const rest = await read(path, { "last-event-id": events[0]?.id as string }, strict);
  expect(rest).toEqual(events.slice(1));
});

/** Cuts every connection after so many bytes of the answer. */
async function cuttingProxy(bytes: number) {
  let cuts = 0;
  const proxy = createServer((reader) => {
    const upstream = connect(server.port, "127.0.0.1");
    let passed = 0;
    upstream.on("data", (piece) => {
      passed += piece.length;
      reader.write(piece);
      if (passed < bytes) return;
      cuts++;
      reader.end();
      upstream.destroy();
    });
    reader.pipe(upstream);
    reader.on("close", () => upstream.destroy());
    upstream.on("close", () => reader.end());
    for (const socket of [reader, upstream]) socket.on("error", () => {});
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, cuts: () => cuts, close: () => proxy.close() };
}

test("LangGraph's SDK comes back by itself after a connection broke, and misses nothing", async () => {
  const { thread_id } = await client.threads.create();
  const proxy = await cuttingProxy(5_000);
  try {
    const through = new Client({ apiUrl: proxy.url, apiKey: TOKEN });
    const seen: { id?: string; event: string }[] = [];
    let runId = "";
    for await (const part of through.runs.stream(thread_id, "echo", {
      input: say("wait 300"),
      streamMode: ["values", "messages-tuple"],
      onRunCreated: ({ run_id }) => {
        runId = run_id;
      },
    }))
      seen.push(part as never);
    const whole = await read(`/threads/${thread_id}/runs/${runId}/stream`);
    expect(seen.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
    expect(seen.at(-1)?.event).toBe("end");
    expect(proxy.cuts()).toBeGreaterThan(0);
    expect(await client.runs.list(thread_id)).toHaveLength(1);
  } finally {
    proxy.close();
  }
});

test("a server that closes breaks its streams off, and another one goes on with the run", async () => {
  const { database, first } = await twoServers();
  const go = join(first.server.directory, "go");
  const { thread_id } = await first.client.threads.create();
  const run = await first.client.runs.create(thread_id, "echo", {
    input: say(`hold ${go}`),
    streamMode: ["values"],
  });
  const seen: SseEvent[] = [];
  const path = `/threads/${thread_id}/runs/${run.run_id}/stream`;
  const response = await fetch(`${first.server.url}${path}`, { headers: auth });
  const reading = (async () => {
    for await (const event of decodeEvents(response.body!)) seen.push(event);
  })();
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  const closing = first.server.app.close();
  await expect(reading).rejects.toThrow();
  await closing;
  writeFileSync(go, "");
  const second = await startServer({ database });
  try {
    const headers = { ...auth, "last-event-id": seen.at(-1)?.id as string };
    const rest = await fetch(`${second.url}${path}`, { headers });
    for await (const event of decodeEvents(rest.body!)) seen.push(event);
    expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, index) => index + 1));
    expect(seen.at(-1)).toMatchObject({ event: "end", data: expect.stringContaining("success") });
  } finally {
    await second.close();
    await first.server.close();
  }
});

async function twoServers() {
  const own = await startServer({ drainMs: 100 });
  const database = `${own.directory}/server.db`;
  return { database, first: { server: own, client: new Client({ apiUrl: own.url, apiKey: TOKEN }) } };
}
