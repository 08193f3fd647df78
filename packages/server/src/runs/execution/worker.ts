/** Works on runs: hears of threads, claims their runs, and takes over runs of dead workers. */
import { AsyncResource } from "node:async_hooks";
import { after, stopwatch } from "deepwright/duration";
import { processName } from "deepwright/process-identity";
import type { Queue } from "../../queue/queue.ts";
import type { RunClaim } from "../../records/records.ts";
import type { ActiveRuns } from "./active-runs.ts";
import { executeRun } from "./execute-run.ts";
import type { ExecutionParts } from "./execution.ts";
import type { RunEnd } from "./run-end.ts";

export interface WorkerOptions extends ExecutionParts {
  readonly queue: Queue;
  /** The worker keeps it up to date. */
  readonly active: ActiveRuns;
  /** Runs at a time. */
  readonly concurrency: number;
  /** How often the records are searched for work without a wake-up. */
  readonly scanMs: number;
  /** After a run has ended, before the next one of its thread begins. */
  readonly onEnd: (claim: RunClaim, end: RunEnd & { readonly kind: "finished" }) => Promise<void>;
  /** With every scan. */
  readonly onScan?: () => Promise<void>;
}

export interface Worker {
  start(): Promise<void>;
  /**
   * Takes no more runs. Running ones stop at their next step, or after `limitMs` at any point, and are given back.
   * Resolves when none is at work. Calling it twice is safe.
   */
  drain(limitMs: number): Promise<void>;
}

/** A thread this process works for. */
interface WorkedThread {
  /** The thread was named again meanwhile, so it is looked at once more. */
  again: boolean;
  done: Promise<void>;
}

const PAUSE_AFTER_ERROR_MS = 1_000;

export function createWorker(options: WorkerOptions): Worker {
  return new QueueWorker(options);
}

class QueueWorker implements Worker {
  readonly #options: WorkerOptions;
  readonly #name = processName();
  readonly #threads = new Map<string, WorkedThread>();
  /** A run that another one caused, in this process, is no part of it. */
  readonly #scope = new AsyncResource("deepwright.worker");
  #draining = false;
  #wasFull = false;
  #stopScanner = (): void => {};
  #scanning: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#options.queue.start((threadId) => this.#handle(threadId));
    await this.#scan();
    this.#scanAgain();
  }

  async drain(limitMs: number): Promise<void> {
    const { queue, active } = this.#options;
    this.#draining = true;
    this.#stopScanner();
    await queue.stop();
    await this.#scanning;
    for (const run of active.all()) run.drain();
    const stopWaiting = after(limitMs, () => {
      for (const run of active.all()) run.leave();
    });
    await Promise.all([...this.#threads.values()].map(({ done }) => done));
    stopWaiting();
  }

  async #handle(threadId: string): Promise<"done" | "full"> {
    const { queue, concurrency, onError } = this.#options;
    const known = this.#threads.get(threadId);
    if (known) {
      known.again = true;
      return "done";
    }
    if (this.#draining || this.#threads.size >= concurrency) {
      this.#wasFull = true;
      return "full";
    }
    const thread: WorkedThread = { again: false, done: Promise.resolve() };
    this.#threads.set(threadId, thread);
    thread.done = this.#scope
      .runInAsyncScope(() => this.#work(threadId, thread))
      .catch(async (error) => {
        onError(error);
        await new Promise((go) => setTimeout(go, PAUSE_AFTER_ERROR_MS));
      })
      .finally(() => {
        this.#threads.delete(threadId);
        if (thread.again) void queue.wake(threadId).catch(onError);
        if (this.#wasFull) void this.#scan();
      });
    return "done";
  }

  /** One run of the thread after the other. */
  async #work(threadId: string, thread: WorkedThread): Promise<void> {
    const { records, queue, claimTtlMs, onEnd, onError } = this.#options;
    while (!this.#draining) {
      thread.again = false;
      const claim = await records.runs.claimNext(threadId, this.#name, claimTtlMs);
      if (claim === undefined) {
        if (thread.again) continue;
        return;
      }
      const end = await this.#execute(claim);
      // Another process can go on at once.
      if (end.kind === "released") await queue.wake(threadId);
      if (end.kind !== "finished") return;
      await onEnd(claim, end).catch(onError);
    }
  }

  async #execute(claim: RunClaim): Promise<RunEnd> {
    const { active, metrics } = this.#options;
    const elapsed = stopwatch();
    const run = executeRun(claim, this.#options);
    active.add(run);
    try {
      if (this.#draining) run.drain();
      const end = await run.ended;
      if (end.kind === "finished") metrics?.ranRun(end, elapsed() / 1_000);
      return end;
    } finally {
      active.remove(run);
    }
  }

  #scan(): Promise<void> {
    this.#scanning ??= this.#look().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  async #look(): Promise<void> {
    if (this.#draining) return;
    const { records, concurrency, onScan, onError } = this.#options;
    try {
      const room = concurrency - this.#threads.size;
      this.#wasFull = room <= 0;
      if (room > 0) {
        const found = await records.runs.threadsToWakeUp(room + this.#threads.size);
        for (const threadId of found) if (!this.#threads.has(threadId)) await this.#handle(threadId);
      }
      await onScan?.();
    } catch (error) {
      onError(error);
    }
  }

  #scanAgain(): void {
    // Many processes do not search at the same moment.
    const pause = this.#options.scanMs * (0.75 + Math.random() / 2);
    const again = () => {
      if (!this.#draining) this.#scanAgain();
    };
    this.#stopScanner = after(pause, () => void this.#scan().finally(again));
  }
}
