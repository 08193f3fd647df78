import { expect, test } from "vitest";
import { postgresRestart } from "./postgres-restart.ts";
import { inTest } from "./test-site.ts";

test("R-06 runs outlast a Postgres that stops and starts, and nothing is lost or done twice", {
  timeout: 120_000,
}, async () => {
  const parameters = { runs: 30, processes: 1, blows: ["fast", "terminate"], longestOutage: 1 } as const;
  const outcome = await inTest((site) => postgresRestart(site, parameters));
  expect(outcome).toMatchObject({ ok: 30, failures: [] });
});
