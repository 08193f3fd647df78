/** Workers that crash, stall and give up at random moments. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunClaim, ServerRecords } from "../records.ts";
import { newThread, said, started } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

const THREADS = 3;
const RUNS = 4;
const WORKERS = 4;
/** Milliseconds of the first claims. */
const SHORT = 15;

type Fate = "finish" | "crash" | "stall" | "release";

const fates = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fate>("finish") },
    { weight: 1, arbitrary: fc.constant<Fate>("crash") },
    { weight: 2, arbitrary: fc.constant<Fate>("stall") },
    { weight: 1, arbitrary: fc.constant<Fate>("release") },
  ),
  { minLength: 10, maxLength: 60 },
);

export function propertySuite({ records, again }: RecordsSite): void {
  test("whatever workers do, every run ends once, in the order of its thread, with a whole log", async () => {
    const other = await again();
    await fc.assert(
      fc.asyncProperty(fates, (plan) => everyRunEndsOnce([records(), other], plan)),
      { numRuns: 8, endOnFailure: true },
    );
    await other.close();
  });
}

async function everyRunEndsOnce(
  homes: readonly [ServerRecords, ServerRecords],
  plan: readonly Fate[],
): Promise<void> {
  const threads = await Promise.all(Array.from({ length: THREADS }, () => newThread(homes[0], "a")));
  const expected = new Map<string, string[]>();
  for (const threadId of threads) {
    const runs: string[] = [];
    for (let index = 0; index < RUNS; index += 1)
      runs.push(await started(homes[index % 2 === 0 ? 0 : 1], "a", threadId));
    expected.set(threadId, runs);
  }
  // Sorted by fence at the end: a slow worker may learn of its success after the next run has ended.
  const ended = new Map<string, RunClaim[]>(threads.map((threadId) => [threadId, []]));
  const atEnd = [...plan];
  const isDone = () => [...ended.values()].every((runs) => runs.length >= RUNS);
  let ttlMs = SHORT;
  const work = async (home: ServerRecords, worker: string, offset: number) => {
    for (let turn = offset; !isDone(); turn += 1) {
      const threadId = threads[turn % THREADS] as string;
      const claim = await home.runs.claimNext(threadId, worker, ttlMs);
      if (claim === undefined) {
        await sleep(2);
        continue;
      }
      const fate = atEnd.shift() ?? "finish";
      if (await execute(home, claim, fate, ttlMs)) ended.get(threadId)?.push(claim);
      // On a busy machine claims run out by themselves, and nobody would ever end a run.
      else if (fate === "finish") ttlMs *= 2;
    }
  };
  await Promise.all(
    Array.from({ length: WORKERS }, (_, index) =>
      work(homes[index % 2 === 0 ? 0 : 1], `worker ${index}`, index),
    ),
  );
  const inOrder = [...ended].map(([threadId, claims]) => [
    threadId,
    claims.toSorted((a, b) => a.fence - b.fence).map(({ run }) => run.run_id),
  ]);
  expect(Object.fromEntries(inOrder)).toEqual(Object.fromEntries(expected));
  for (const runId of [...expected.values()].flat()) await checkLog(homes[0], runId);
}

/** Whether it was this claim that ended the run. */
async function execute(home: ServerRecords, claim: RunClaim, fate: Fate, ttlMs: number): Promise<boolean> {
  const words = said(`${claim.fence}`);
  await home.events.append(claim, [words]);
  if (fate === "crash") return false;
  if (fate === "stall") await sleep(ttlMs * 2);
  if (fate === "release") {
    await home.runs.release(claim);
    return false;
  }
  if ((await home.events.append(claim, [words])) === undefined) {
    expect(await home.runs.finish(claim, { status: "error", threadStatus: "error" }, [words])).toBe(false);
    return false;
  }
  return home.runs.finish(claim, { status: "success", threadStatus: "idle" }, [said("end")]);
}

/** Numbers without gaps, fences that never go back, one end, and that last. */
async function checkLog(home: ServerRecords, runId: string): Promise<void> {
  const log = await home.events.read(runId, 0, 1000);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  const texts = log.map(({ data }) => JSON.parse(data).text as string);
  expect(texts.indexOf("end")).toBe(texts.length - 1);
  const seen = texts.slice(0, -1).map(Number);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
}
