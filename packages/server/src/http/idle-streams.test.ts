/** The cost of a stream while nothing happens. */
import { type ChildProcess, spawn } from "node:child_process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "@langchain/langgraph-sdk";
import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { until } from "../../../../scripts/test-time.ts";
import { startServer, TOKEN } from "../server-for-tests.ts";

const STREAMS = 1_000;
/** They are of so many runs. */
const RUNS = 20;
/** Seconds in which nothing happens. */
const IDLE = sized(2, 600);
const MOST_BYTES = 50 * 1024;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Memory that is in use: what the collector keeps for later is not. */
function used(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The readers are another process, so that this one holds the server's side alone. */
const READERS = `
  const { connect } = require("node:net");
  const [port, token, count, ...paths] = process.argv.slice(1);
  let open = 0, alive = 0;
  for (let i = 0; i < Number(count); i++) {
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write("GET " + paths[i % paths.length] + " HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer " + token + "\\r\\n\\r\\n"));
    socket.once("data", () => ++open === Number(count) && process.stdout.write("open\\n"));
    let beats = false;
    socket.on("data", (piece) => {
      if (beats || !String(piece).includes(": heartbeat")) return;
      beats = true;
      if (++alive === Number(count)) process.stdout.write("alive\\n");
    });
    socket.on("error", () => process.exit(1));
    socket.on("close", () => process.exit(1));
  }
`;

/** The address of its stream, once it is at work. */
async function longRun(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: "user", content: "wait 3600000" }] };
  const { run_id } = await client.runs.create(thread_id, "echo", { input });
  const status = async () => (await client.runs.get(thread_id, run_id)).status;
  await expect.poll(status).toBe("running");
  return `/threads/${thread_id}/runs/${run_id}/stream`;
}

/** Opens streams of these runs in another process, and resolves when each of them has heard a heartbeat. */
async function openReaders(port: number, count: number, paths: readonly string[]): Promise<ChildProcess> {
  const facts = [String(port), TOKEN, String(count), ...paths];
  const readers = spawn(process.execPath, ["-e", READERS, ...facts], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  readers.stdout?.on("data", (piece) => {
    said += piece;
  });
  await until(() => {
    expect(readers.exitCode).toBeNull();
    return said.includes("alive");
  });
  return readers;
}

test("a stream costs no more the longer it is open", async () => {
  const [streams, beatMs, beats] = [50, 20, 300];
  const server = await startServer({ heartbeatMs: beatMs, drainMs: 100 });
  const client = new Client({ apiUrl: server.url, apiKey: TOKEN });
  const readers = await openReaders(server.port, streams, [await longRun(client)]);
  try {
    const before = used();
    await new Promise((done) => setTimeout(done, beats * beatMs));
    const perStream = (used() - before) / streams;
    console.log(`one stream, ${beats} heartbeats later: ${Math.round(perStream / 1024)} KB more`);
    // A busy machine beats less often, which makes the growth smaller and never larger.
    expect(perStream).toBeLessThan(30 * 1024);
  } finally {
    readers.kill();
    await server.close();
  }
});

test(`R-15: ${STREAMS} idle streams are kept alive, cost at most 50 KB each, and leave nothing behind`, async () => {
  const server = await startServer({ heartbeatMs: 1_000, drainMs: 100 });
  const client = new Client({ apiUrl: server.url, apiKey: TOKEN });
  let readers: ChildProcess | undefined;
  try {
    const paths = await Promise.all(Array.from({ length: RUNS }, () => longRun(client)));
    const before = used();
    readers = await openReaders(server.port, STREAMS, paths);
    const each: number[] = [];
    for (let look = 0; look < 3; look += 1) {
      await new Promise((done) => setTimeout(done, (IDLE * 1_000) / 3));
      each.push((used() - before) / STREAMS);
    }
    console.log(
      `one idle stream over ${IDLE} s: ${each.map((bytes) => Math.round(bytes / 1024)).join(", ")} KB`,
    );
    for (const bytes of each) expect(bytes).toBeLessThan(MOST_BYTES);
    // Nobody was left out: a reader whose stream ends takes the process with it.
    expect(readers.exitCode).toBeNull();
    const began = performance.now();
    expect((await server.call("GET", "/ok")).status).toBe(200);
    console.log(`/ok beside ${STREAMS} streams: ${Math.round(performance.now() - began)} ms`);
    readers.kill();
    await expect.poll(() => (used() - before) / STREAMS).toBeLessThan(MOST_BYTES / 5);
  } finally {
    readers?.kill();
    await server.close();
  }
});
