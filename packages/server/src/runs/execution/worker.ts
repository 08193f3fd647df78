/** Works on runs: hears of threads, claims what they have to do, and makes up for workers that are gone. */
import { AsyncResource } from "node:async_hooks";
import { after } from "deepwright/duration";
import { processName } from "deepwright/process-identity";
import type { Queue } from "../../queue/queue.ts";
import type { RunClaim } from "../../records/records.ts";
import { type ActiveRun, executeRun } from "./execute-run.ts";
import type { ExecutionParts, RunEnd } from "./execution.ts";

export interface WorkerOptions extends ExecutionParts {
  readonly queue: Queue;
  /** Runs at a time. */
  readonly concurrency: number;
  /** How often the records are searched for what nobody told of. */
  readonly scanMs: number;
  /** After a run has ended, before the next one of its thread begins. */
  readonly onEnd: (claim: RunClaim, end: RunEnd & { readonly kind: "finished" }) => Promise<void>;
  /** With every scan. */
  readonly onScan?: () => Promise<void>;
}

export interface Worker {
  start(): Promise<void>;
  /** The run, while this process is at work on it. */
  active(runId: string): ActiveRun | undefined;
  /** Runs of a thread at work here: at most one. */
  activeOn(threadId: string): ActiveRun | undefined;
  /** How many runs are at work. */
  readonly size: number;
  /**
   * Takes nothing more; what is at work stops at its next step, or after `limitMs` wherever it is, and is given back.
   * Resolves when nothing is at work. Safe twice.
   */
  drain(limitMs: number): Promise<void>;
}

const PAUSE_AFTER_ERROR_MS = 1_000;

export function createWorker(options: WorkerOptions): Worker {
  const { records, queue, concurrency } = options;
  const name = processName();
  const threads = new Map<string, { again: boolean; run?: ActiveRun; done: Promise<void> }>();
  /** A run that another one caused, in this process, is no part of it. */
  const scope = new AsyncResource("deepwright.worker");
  let draining = false;
  let wasFull = false;
  let stopScanner = (): void => {};
  let scanning: Promise<void> | undefined;

  /** One run of the thread after the other. */
  const work = async (threadId: string, own: { again: boolean; run?: ActiveRun }): Promise<void> => {
    while (!draining) {
      own.again = false;
      const claim = await records.runs.claimNext(threadId, name, options.claimTtlMs);
      if (claim === undefined) {
        if (own.again) continue;
        return;
      }
      own.run = executeRun(claim, options);
      if (draining) own.run.drain();
      const end = await own.run.ended;
      own.run = undefined;
      // Another process can go on at once.
      if (end.kind === "released") await queue.wake(threadId);
      if (end.kind !== "finished") return;
      await options.onEnd(claim, end).catch(options.onError);
    }
  };
  const handle = async (threadId: string): Promise<"done" | "full"> => {
    const known = threads.get(threadId);
    if (known) {
      known.again = true;
      return "done";
    }
    if (draining || threads.size >= concurrency) {
      wasFull = true;
      return "full";
    }
    const own: { again: boolean; run?: ActiveRun; done: Promise<void> } = {
      again: false,
      done: Promise.resolve(),
    };
    threads.set(threadId, own);
    own.done = scope
      .runInAsyncScope(() => work(threadId, own))
      .catch(async (error) => {
        options.onError(error);
        await new Promise((go) => setTimeout(go, PAUSE_AFTER_ERROR_MS));
      })
      .finally(() => {
        threads.delete(threadId);
        if (own.again) void queue.wake(threadId).catch(options.onError);
        if (wasFull) void scan();
      });
    return "done";
  };
  const scan = (): Promise<void> => {
    scanning ??= look().finally(() => {
      scanning = undefined;
    });
    return scanning;
  };
  const look = async (): Promise<void> => {
    if (draining) return;
    try {
      const room = concurrency - threads.size;
      wasFull = room <= 0;
      if (room > 0) {
        const found = await records.runs.threadsToWakeUp(room + threads.size);
        for (const threadId of found) if (!threads.has(threadId)) await handle(threadId);
      }
      await options.onScan?.();
    } catch (error) {
      options.onError(error);
    }
  };
  const scanAgain = (): void => {
    // Many processes do not search at the same moment.
    const pause = options.scanMs * (0.75 + Math.random() / 2);
    stopScanner = after(pause, () => void scan().finally(() => !draining && scanAgain()));
  };
  const runs = () => [...threads.values()].flatMap(({ run }) => (run ? [run] : []));

  return {
    get size() {
      return runs().length;
    },
    async start() {
      await queue.start(handle);
      await scan();
      scanAgain();
    },
    active: (runId) => runs().find(({ run }) => run.run_id === runId),
    activeOn: (threadId) => threads.get(threadId)?.run,
    async drain(limitMs) {
      draining = true;
      stopScanner();
      await queue.stop();
      await scanning;
      for (const run of runs()) run.drain();
      const stopWaiting = after(limitMs, () => {
        for (const run of runs()) run.leave();
      });
      await Promise.all([...threads.values()].map(({ done }) => done));
      stopWaiting();
    },
  };
}
