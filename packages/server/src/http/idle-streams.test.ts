/** What a stream costs while nothing happens. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "@langchain/langgraph-sdk";
import { expect, test } from "vitest";
import { startServer, TOKEN } from "../server-for-tests.ts";

const STREAMS = 1_000;
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
  const [port, path, token, count] = process.argv.slice(1);
  let open = 0;
  for (let i = 0; i < Number(count); i++) {
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write("GET " + path + " HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer " + token + "\\r\\n\\r\\n"));
    socket.once("data", () => ++open === Number(count) && process.stdout.write("open\\n"));
    socket.on("data", () => {});
    socket.on("error", () => process.exit(1));
  }
`;

test(`${STREAMS} idle streams cost at most 50 KB each`, async () => {
  const server = await startServer({ heartbeatMs: 1_000, drainMs: 100 });
  const client = new Client({ apiUrl: server.url, apiKey: TOKEN });
  let readers: ChildProcess | undefined;
  try {
    const { thread_id } = await client.threads.create();
    const input = { messages: [{ role: "user", content: "wait 600000" }] };
    const { run_id } = await client.runs.create(thread_id, "echo", { input });
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    await expect.poll(async () => (await client.runs.get(thread_id, run_id)).status).toBe("running");
    const before = used();
    readers = spawn(process.execPath, ["-e", READERS, String(server.port), path, TOKEN, String(STREAMS)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(readers.stdout!, "data");
    await new Promise((done) => setTimeout(done, 2_500));
    const each = (used() - before) / STREAMS;
    console.log(`one idle stream: ${Math.round(each / 1024)} KB`);
    expect(each).toBeLessThan(MOST_BYTES);
    const began = performance.now();
    expect((await server.call("GET", "/ok")).status).toBe(200);
    console.log(`/ok beside ${STREAMS} streams: ${Math.round(performance.now() - began)} ms`);
  } finally {
    readers?.kill();
    await server.close();
  }
}, 60_000);
