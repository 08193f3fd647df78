/** Whether the server still answers while it works. */
import { expect, test } from "vitest";
import { startServer } from "../server-for-tests.ts";

const RUNS = 200;

test(`beside ${RUNS} runs at work the 99th percentile of /ok is below a second`, async () => {
  const server = await startServer({
    runs: { concurrency: RUNS },
    limits: { runs: { burst: RUNS, perSecond: RUNS } },
  });
  try {
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
    times.sort((left, right) => left - right);
    const p99 = times[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY;
    console.log(`/ok beside ${RUNS} runs: p99 ${Math.round(p99)} ms of ${times.length}`);
    expect(p99).toBeLessThan(1_000);
  } finally {
    await server.close();
  }
}, 60_000);
