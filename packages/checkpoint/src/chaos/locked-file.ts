/** another process holds the file's lock; the event loop goes on, and so does the run afterwards. */
import { join } from "node:path";
import { plannedOutline } from "./agent.ts";
import { difference, type Outcome, Verdict } from "./outcome.ts";
import type { Plan } from "./plan.ts";
import type { ChaosSite } from "./site.ts";

export interface LockedFileParameters {
  readonly seconds: number;
}

const LONGEST_STALL_MS = 250;
const CLAIM = { mode: "queue", ttl: 30 } as const;

export async function lockedFile(site: ChaosSite, { seconds }: LockedFileParameters): Promise<Outcome> {
  const directory = site.directory();
  const database = join(directory, "state.db");
  const log = join(directory, "effects.log");
  const verdict = new Verdict("R-07 locked-file");
  const worker = await site.worker(database);
  const other = await site.worker(database);
  const planFor = (thread: string): Plan => ({ thread, text: "Go.", turns: 3 });
  await worker.ask({ act: "run", plan: planFor("before"), claim: CLAIM, log });
  await other.ask({ act: "lock", path: database, milliseconds: seconds * 1_000 });
  await worker.ask({ act: "watch" });
  const began = performance.now();
  const { messages } = await worker.ask({ act: "run", plan: planFor("while"), claim: CLAIM, log });
  const waited = (performance.now() - began) / 1_000;
  const stall = await worker.ask({ act: "stall" });
  await Promise.all([worker.kill(), other.kill()]);
  verdict.add(`lock of ${seconds} s`, [
    ...difference("messages", messages, plannedOutline(planFor("while"))),
    ...(stall <= LONGEST_STALL_MS ? [] : [`the event loop stalled for ${stall.toFixed(0)} ms`]),
    ...(waited >= seconds * 0.8 ? [] : [`the run took ${waited.toFixed(1)} s: the lock was not felt`]),
  ]);
  return verdict.outcome(
    `locked for ${seconds} s, run done after ${waited.toFixed(1)} s; longest stall ${stall.toFixed(0)} ms`,
  );
}
