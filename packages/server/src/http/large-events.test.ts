/** R-14 for one event that is larger than all a reader may cost: it goes over the wire in pieces. */
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { decodeEvents } from "@deepwright/protocol";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import type { RunClaim } from "../records/records.ts";
import type { ServeOptions } from "../serve.ts";
import { startServer, streamCounter, type TestServer, TOKEN } from "../server-for-tests.ts";

// They work on nothing: what runs say is written by the tests.
const openApi = async (options: Partial<ServeOptions> = {}): Promise<TestServer> => {
  const server = await startServer({ role: "api", heartbeatMs: 50, ...options });
  onTestFinished(() => server.close());
  return server;
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const MIB = 1024 * 1024;
const READERS = 4;
/** Letters of every length in bytes, so that a cut in the wrong place would show. */
const WORDS = "aé€😀\u2028\n";

async function runWith(server: TestServer, ...data: string[]) {
  const { thread_id } = (await server.call("POST", "/threads", {})).body;
  const { run_id } = (await server.call("POST", `/threads/${thread_id}/runs`, { assistant_id: "echo" })).body;
  const { runs, events } = server.app.storage.records;
  const claim = (await runs.claimNext(thread_id, "test", 600_000)) as RunClaim;
  for (const one of data) await events.append(claim, [{ event: "custom", data: one }]);
  const end = { status: "success", threadStatus: "idle" } as const;
  await runs.finish(claim, end, [{ event: "end", data: "{}" }]);
  return { thread: thread_id as string, run: run_id as string };
}

function used(): number {
  collect();
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

/** Asks, and takes nothing. */
function stalledReader(server: TestServer, path: string, last: string) {
  const headers = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nLast-Event-ID: ${last}\r\n\r\n`;
  const socket = connect({ port: server.port, host: "127.0.0.1" }, () =>
    socket.write(`GET ${path} HTTP/1.1\r\n${headers}`),
  );
  socket.pause();
  const closed = new Promise<void>((gone) => socket.on("close", () => gone()).on("error", () => {}));
  return { socket, closed };
}

async function readAll(server: TestServer, path: string, last?: string) {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(last !== undefined && { "last-event-id": last }) };
  const leave = new AbortController();
  const response = await fetch(`${server.url}${path}`, { headers, signal: leave.signal });
  const events: { id: string | undefined; event: string; data: string }[] = [];
  for await (const { id, event, data } of decodeEvents(response.body!)) {
    events.push({ id, event, data });
    if (event === "end") break;
  }
  leave.abort();
  return events;
}

test("R-14: a reader that takes nothing of one event of 30 MiB costs at most 16 MiB, and is cut off", async () => {
  const server = await openApi({ stallMs: 2_000 });
  const streams = streamCounter(server);
  const { thread, run } = await runWith(server, JSON.stringify("x".repeat(30 * MIB)));
  await new Promise((go) => setTimeout(go, 300));
  const before = used();
  for (const [path, last] of [
    [`/threads/${thread}/runs/${run}/stream`, "0"],
    [`/threads/${thread}/stream`, `${run}:0.1`],
  ] as const) {
    const readers = Array.from({ length: READERS }, () => stalledReader(server, path, last));
    await until(() => streams() === READERS);
    let most = 0;
    for (let look = 0; look < 8; look += 1) {
      await new Promise((go) => setTimeout(go, 200));
      most = Math.max(most, used() - before);
    }
    console.log(`a reader of one event of 30 MiB: ${(most / READERS / MIB).toFixed(1)} MiB`);
    expect(most / READERS).toBeLessThan(16 * MIB);
    expect(most / READERS).toBeGreaterThan(MIB / 2);
    // They are cut off.
    await until(() => streams() === 0);
    for (const { socket } of readers) socket.resume();
    await Promise.all(readers.map(({ closed }) => closed));
  }
});

test("a large event comes whole, among small ones, and the stream goes on behind it", async () => {
  const large = JSON.stringify(WORDS.repeat(400_000));
  const server = await openApi();
  const { thread, run } = await runWith(server, '"before"', large, '"behind"');
  const path = `/threads/${thread}/runs/${run}/stream`;
  const events = await readAll(server, path);
  expect(events.map(({ id, event }) => [id, event])).toEqual([
    ["1", "custom"],
    ["2", "custom"],
    ["3", "custom"],
    ["4", "end"],
  ]);
  expect(JSON.parse(events[1]?.data ?? "") === WORDS.repeat(400_000)).toBe(true);
  expect(events.map(({ data }) => data.length < 100)).toEqual([true, false, true, true]);
  expect((await readAll(server, path, "1")).map(({ id }) => id)).toEqual(["2", "3", "4"]);
  expect((await readAll(server, path, "2")).map(({ id }) => id)).toEqual(["3", "4"]);
  const ofThread = await readAll(server, `/threads/${thread}/stream`, `${run}:0.1`);
  expect(ofThread.map(({ data }) => data === events[1]?.data)).toEqual([false, true, false, false]);
});
