import { expect, test } from "vitest";
import { inTest } from "../../../checkpoint/src/chaos/test-site.ts";
import { killedWorkers } from "./killed-workers.ts";
import { bundleServer } from "./program.ts";

const RUNS = 12;
/** The runs, and what is looked at beside them: the api, the workers, the kills, the database and the blows. */
const ALL = RUNS + 5;

test("R-06: of runs on three workers that are killed, and a Postgres that is restarted, none is lost and nothing finished is done twice", async () => {
  const parameters = {
    runs: RUNS,
    workers: 3,
    turns: 3,
    kills: 3,
    blows: ["fast"],
    outageMs: 3_000,
  } as const;
  const outcome = await inTest((site) => killedWorkers(site, parameters), bundleServer);
  expect(outcome).toMatchObject({ ok: ALL, failures: [] });
});
