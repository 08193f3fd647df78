/** Whether the server still answers while it works. */
import { expect, test } from "vitest";
import { percentile } from "../chaos/probe.ts";
import { startServer, type TestServer } from "../server-for-tests.ts";

const RUNS = 200;
const MOST_ROUNDS = 3;

/** Milliseconds below which 99 of 100 answers to `/ok` came, while so many runs were at work. */
async function roundOf(server: TestServer): Promise<number> {
  const body = { assistant_id: "echo", input: { messages: [{ role: "user", content: "wait 1500" }] } };
  let ended = 0;
  const runs = Array.from({ length: RUNS }, async () => {
    expect((await server.call("POST", "/runs/wait", body)).status).toBe(200);
    ended++;
  });
  const times: number[] = [];
  while (ended < RUNS) {
    const began = performance.now();
    expect((await server.call("GET", "/ok")).status).toBe(200);
    times.push(performance.now() - began);
    await new Promise((go) => setTimeout(go, 10));
  }
  await Promise.all(runs);
  const p99 = percentile(times, 0.99);
  console.log(`/ok beside ${RUNS} runs: p99 ${Math.round(p99)} ms of ${times.length}`);
  return p99;
}

test(`beside ${RUNS} runs at work the 99th percentile of /ok is below a second`, async () => {
  const server = await startServer({
    runs: { concurrency: RUNS },
    limits: { runs: { burst: 10 * RUNS, perSecond: RUNS } },
  });
  try {
    // What else the machine does only adds to it: another round is tried where it does much.
    const rounds: number[] = [];
    while (rounds.length < MOST_ROUNDS && !rounds.some(isSoon)) rounds.push(await roundOf(server));
    expect(rounds.filter(isSoon)).toHaveLength(1);
  } finally {
    await server.close();
  }
}, 120_000);

const isSoon = (p99: number): boolean => p99 < 1_000;
