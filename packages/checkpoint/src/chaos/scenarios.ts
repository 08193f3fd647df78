/** The scenarios of threads and their storage at full length. */
import { privatePostgres } from "../test-support/postgres.ts";
import type { Outcome } from "./outcome.ts";
import type { WorkerProgram } from "./program.ts";
import { answerTwice } from "./scenarios/answer-twice.ts";
import { copyWhileWriting } from "./scenarios/copy-while-writing.ts";
import { diskFull } from "./scenarios/disk-full.ts";
import { killAnywhere } from "./scenarios/kill-anywhere.ts";
import { killInModel, killInTool } from "./scenarios/kill-in-turn.ts";
import { lockedFile } from "./scenarios/locked-file.ts";
import { type Blow, postgresRestart } from "./scenarios/postgres-restart.ts";
import { stoppedHolder } from "./scenarios/stopped-holder.ts";
import { stoppedTransaction } from "./scenarios/stopped-transaction.ts";
import { twoWriters } from "./scenarios/two-writers.ts";
import type { ChaosSite } from "./site.ts";

export interface Scenario {
  readonly name: string;
  readonly says: string;
  /** Duration on two cores. */
  readonly minutes: number;
  /** Absent: everywhere. */
  readonly platform?: NodeJS.Platform;
  /** Makes the program of its processes. Absent: the worker that runs agents on a database. */
  readonly bundle?: () => Promise<WorkerProgram>;
  run(site: ChaosSite): Promise<Outcome>;
}

const BLOWS: readonly Blow[] = ["fast", "terminate", "kill", "terminate", "fast", "kill"];

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "kill-in-tool",
    says: "R-01: 20 processes killed while one of two tools runs",
    minutes: 0.5,
    run: (site) => killInTool(site, { times: 20 }),
  },
  {
    name: "kill-in-model",
    says: "R-02: 20 processes killed while the model thinks",
    minutes: 0.5,
    run: (site) => killInModel(site, { times: 20 }),
  },
  {
    name: "kill-anywhere",
    says: "R-03: 200 kills at random moments over 50 runs",
    minutes: 5,
    run: (site) => killAnywhere(site, { runs: 50, kills: 200, lanes: 2 }),
  },
  {
    name: "copy-while-writing",
    says: "R-04: 100 copies of a database that is being written",
    minutes: 1.5,
    run: (site) => copyWhileWriting(site, { copies: 100 }),
  },
  {
    name: "disk-full",
    says: "R-05: 20 runs that outgrow their disk",
    minutes: 0.5,
    platform: "linux",
    run: (site) => diskFull(site, { times: 20 }),
  },
  {
    name: "postgres-restart",
    says: "R-06: 200 runs, the server stopped, killed and cut off 6 times",
    minutes: 3.5,
    run: (site) => postgresRestart(site, { runs: 200, processes: 2, blows: BLOWS, longestOutage: 8 }),
  },
  {
    name: "locked-file",
    says: "R-07: the file locked for 10 s by another process",
    minutes: 0.5,
    run: (site) => lockedFile(site, { seconds: 10, longestStall: 250 }),
  },
  {
    name: "two-writers",
    says: "R-09: two processes on one thread, 1,000 times",
    minutes: 2.5,
    run: (site) => twoWriters(site, { pairs: 1_000, pairsPerThread: 50 }),
  },
  {
    name: "two-writers-postgres",
    says: "R-09: the same on Postgres",
    minutes: 3,
    run: onPostgres((site, postgres) => twoWriters(site, { pairs: 1_000, pairsPerThread: 50, postgres })),
  },
  {
    name: "answer-twice",
    says: "R-10: 1,000 questions, each answered by two processes",
    minutes: 1,
    run: (site) => answerTwice(site, { questions: 1_000 }),
  },
  {
    name: "answer-twice-postgres",
    says: "R-10: the same on Postgres",
    minutes: 2,
    run: onPostgres((site, postgres) => answerTwice(site, { questions: 1_000, postgres })),
  },
  {
    name: "stopped-holder",
    says: "R-12: 20 processes stopped until another has taken over",
    minutes: 2,
    run: (site) => stoppedHolder(site, { times: 20, ttl: 2, where: "outside" }),
  },
  {
    name: "stopped-holder-postgres",
    says: "R-12: the same on Postgres",
    minutes: 2,
    run: onPostgres((site, postgres) =>
      stoppedHolder(site, { times: 20, ttl: 2, where: "outside", postgres }),
    ),
  },
  {
    name: "stopped-transaction",
    says: "R-12: 2 processes stopped while they have the lock of the file",
    minutes: 1,
    run: (site) => stoppedTransaction(site, { times: 2 }),
  },
  {
    name: "stopped-transaction-postgres",
    says: "R-12: 3 processes stopped while they have a row of Postgres locked",
    minutes: 1,
    run: onPostgres((site, postgres) => stoppedHolder(site, { times: 3, ttl: 2, where: "inside", postgres })),
  },
];

function onPostgres(run: (site: ChaosSite, url: string) => Promise<Outcome>): Scenario["run"] {
  return async (site) => {
    const server = await privatePostgres();
    site.onClose(() => server.stop());
    return run(site, server.url);
  };
}
