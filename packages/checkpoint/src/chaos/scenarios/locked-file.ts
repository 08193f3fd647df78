/** another process holds the file's lock; the event loop goes on, and so does the run afterwards. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { plannedOutline } from "../agent.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import type { WorkerProcess } from "../worker-process.ts";

export interface LockedFileParameters {
  readonly seconds: number;
  /** Longest pause of the event loop in milliseconds. Absent: no limit, because a busy machine pauses it too. */
  readonly longestStall?: number;
}

const CLAIM = { mode: "queue", ttl: 30 } as const;

export async function lockedFile(site: ChaosSite, parameters: LockedFileParameters): Promise<Outcome> {
  const { seconds, longestStall = Number.POSITIVE_INFINITY } = parameters;
  const directory = site.directory();
  const database = join(directory, "state.db");
  const log = join(directory, "effects.log");
  const verdict = new Verdict("R-07 locked-file");
  const worker = await site.worker(database);
  const other = await site.worker(database);
  const planFor = (thread: string): Plan => ({ thread, text: "Go.", turns: 3 });
  await worker.ask({ act: "run", plan: planFor("before"), claim: CLAIM, log });
  await other.ask({ act: "lock", path: database });
  await worker.ask({ act: "watch" });
  let done = false;
  const running = worker.ask({ act: "run", plan: planFor("while"), claim: CLAIM, log }).finally(() => {
    done = true;
  });
  const answers = await answersWithin(worker, seconds);
  const wasFelt = !done;
  await other.ask({ act: "unlock" });
  const { messages } = await running;
  const stall = await worker.ask({ act: "stall" });
  await Promise.all([worker.kill(), other.kill()]);
  verdict.add(`lock of ${seconds} s`, [
    ...difference("messages", messages, plannedOutline(planFor("while"))),
    ...(stall <= longestStall ? [] : [`the event loop stalled for ${stall.toFixed(0)} ms`]),
    ...(wasFelt ? [] : ["the run was done before the lock was gone: the lock was not felt"]),
  ]);
  return verdict.outcome(
    `locked for ${seconds} s, ${answers} questions answered meanwhile; longest stall ${stall.toFixed(0)} ms`,
  );
}

/** Answers of an event loop that goes on. One that waits for the lock does not answer until the run has failed. */
async function answersWithin(worker: WorkerProcess, seconds: number): Promise<number> {
  let answers = 0;
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; answers += 1) {
    await worker.ask({ act: "stall" });
    await sleep(10);
  }
  return answers;
}
