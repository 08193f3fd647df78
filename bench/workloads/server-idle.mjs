/** A server with many readers of one quiet run, and one with many runs at work: memory for a reader, time for `/ok`. */
import { request } from "node:http";
import { begin, newThread, withServers } from "./server-process.mjs";

/** Not the embedded server: it begins a run for whoever joins one, and has no `/ok`. */
const SERVERS = ["deepwright", "langgraph-api"];

export function measure(_contender, { readers, runs, looks }) {
  return withServers(SERVERS, async (servers) => {
    const [ours, api] = [[], []];
    for (const [server, figures] of [
      [servers[0], ours],
      [servers[1], api],
    ]) {
      figures.push(await kilobytesPerReader(server, readers));
      figures.push(await healthBeside(server, runs, looks));
    }
    return { kb: ours[0], apiKb: api[0], p99: ours[1], apiP99: api[1] };
  });
}

async function kilobytesPerReader(server, readers) {
  const threadId = await newThread(server);
  const { run_id } = await begin(server, threadId, "wait 600000");
  const path = `/threads/${threadId}/runs/${run_id}/stream`;
  const warm = await Promise.all(Array.from({ length: 50 }, () => opened(server, path)));
  const before = server.rss();
  const open = [];
  while (open.length < readers)
    open.push(...(await Promise.all(Array.from({ length: 50 }, () => opened(server, path)))));
  const kb = (server.rss() - before) / readers / 1024;
  for (const reader of [...warm, ...open]) reader.destroy();
  return kb;
}

/** A stream whose head has come. */
function opened({ url, headers }, path) {
  return new Promise((done, fail) => {
    const reader = request(`${url}${path}`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) fail(new Error(`GET ${path}: ${response.statusCode}`));
      response.on("error", () => {}).resume();
      done(reader);
    });
    reader.on("error", fail).end();
  });
}

/** The slowest hundredth of looks at `/ok`, in milliseconds, while so many runs are begun and at work. */
async function healthBeside(server, runs, looks) {
  const working = Promise.all(
    Array.from({ length: runs }, async () => begin(server, await newThread(server), "wait 1000")),
  );
  const times = [];
  while (times.length < looks) {
    const start = performance.now();
    const response = await fetch(`${server.url}/ok`, { headers: server.headers });
    await response.text();
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 10));
  }
  await working;
  return times.sort((a, b) => a - b)[Math.ceil(looks * 0.99) - 1];
}
