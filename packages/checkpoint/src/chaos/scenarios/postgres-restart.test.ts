import { expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { inTest } from "../test-site.ts";
import { postgresRestart } from "./postgres-restart.ts";

const RUNS = sized(10, 30);

test("R-06 runs outlast a Postgres that stops and starts, and nothing is lost or done twice", async () => {
  const parameters = { runs: RUNS, processes: 1, blows: ["fast", "terminate"], longestOutage: 1 } as const;
  const outcome = await inTest((site) => postgresRestart(site, parameters));
  expect(outcome).toMatchObject({ ok: RUNS, failures: [] });
});
