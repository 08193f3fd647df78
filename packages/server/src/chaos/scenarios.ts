/** The scenarios of servers at full length. */
import type { Scenario } from "../../../checkpoint/src/chaos/scenarios.ts";
import { killedWorkers } from "./killed-workers.ts";
import { bundleServer } from "./program.ts";
import { racedSandboxes } from "./raced-sandboxes.ts";

export const SERVER_SCENARIOS: readonly Scenario[] = [
  {
    name: "server-postgres",
    says: "R-06: 200 runs over HTTP on 3 workers, a random one killed every second, Postgres restarted twice",
    minutes: 4,
    bundle: bundleServer,
    run: (site) =>
      killedWorkers(site, {
        runs: 200,
        workers: 3,
        turns: 6,
        blows: ["fast", "kill"],
        outageMs: 4_000,
      }),
  },
  {
    name: "server-paused",
    says: "R-12: 100 runs over HTTP on 5 workers, a random one stopped every second, for longer than its claims live",
    minutes: 2,
    bundle: bundleServer,
    run: (site) =>
      killedWorkers(site, {
        runs: 100,
        workers: 5,
        turns: 6,
        pauseMs: 4_500,
        blows: [],
        outageMs: 0,
      }),
  },
  {
    name: "sandbox-race",
    says: "SB-13: sandboxes whose directories are exchanged for links that lead out, for 60 s each",
    minutes: 2.5,
    platform: "linux",
    run: (site) => racedSandboxes(site, { seconds: 60 }),
  },
];
