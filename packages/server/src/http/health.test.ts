/** Whether the server still answers while it works. */
import { expect, onTestFinished, test } from "vitest";
import { withinLimit } from "../../../../scripts/test-time.ts";
import { startServer } from "../server-for-tests.ts";

const RUNS = 200;

test(`beside ${RUNS} runs at work /ok is answered within a second`, async () => {
  const server = await startServer({
    runs: { concurrency: RUNS },
    limits: { runs: { burst: 10 * RUNS, perSecond: RUNS } },
  });
  onTestFinished(() => server.close());
  const body = { assistant_id: "echo", input: { messages: [{ role: "user", content: "wait 1500" }] } };
  let ended = 0;
  const runs = Array.from({ length: RUNS }, async () => {
    expect((await server.call("POST", "/runs/wait", body)).status).toBe(200);
    ended++;
  });
  while (ended < RUNS) {
    const { status } = await withinLimit("/ok beside 200 runs at work", () => server.call("GET", "/ok"));
    expect(status).toBe(200);
    await new Promise((go) => setTimeout(go, 100));
  }
  await Promise.all(runs);
});
