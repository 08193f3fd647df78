/**
 * Compares long texts in a thread, so that the event loop goes on. One thread for the process: it starts with the first
 * text and ends when there has been nothing to do for a while.
 */
import { Worker } from "node:worker_threads";
import type { PatchRequest } from "./patch.ts";

export interface PatchOrder extends Omit<PatchRequest, "searchMs"> {
  /** When the search ends, by `performance.now()`. Time spent in the queue counts. */
  readonly until: number;
}

interface Job {
  readonly order: PatchOrder;
  resolve(patch: string | undefined): void;
}

/** Beyond the search: splitting and joining lines, which is linear. A thread that takes longer is ended. */
const GRACE_MS = 5_000;
const IDLE_MS = 10_000;
const MEMORY = { maxOldGenerationSizeMb: 512 };

class PatchThread {
  readonly #queue: Job[] = [];
  #worker: Worker | undefined;
  #current: Job | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Undefined: the texts are too large to be compared. */
  patch(order: PatchOrder): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#queue.push({ order, resolve });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current) return;
    const job = this.#queue.shift();
    if (!job) {
      this.#rest();
      return;
    }
    this.#current = job;
    this.#worker ??= this.#start();
    this.#worker.ref();
    const { until, ...texts } = job.order;
    const searchMs = Math.max(0, Math.round(until - performance.now()));
    this.#after(searchMs + GRACE_MS, () => this.#fail());
    this.#worker.postMessage({ ...texts, searchMs } satisfies PatchRequest);
  }

  #start(): Worker {
    const worker = new Worker(workerModule(), {
      execArgv: import.meta.url.endsWith(".ts") ? ["--conditions=source"] : [],
      resourceLimits: MEMORY,
    });
    worker.on("message", (patch: string) => this.#settle(patch));
    const isGone = () => worker === this.#worker && this.#fail();
    for (const event of ["error", "messageerror", "exit"]) worker.on(event, isGone);
    return worker;
  }

  #settle(patch: string | undefined): void {
    const job = this.#current;
    this.#current = undefined;
    job?.resolve(patch);
    this.#next();
  }

  #fail(): void {
    this.#end();
    this.#settle(undefined);
  }

  #rest(): void {
    this.#worker?.unref();
    this.#after(IDLE_MS, () => this.#end());
    this.#timer?.unref();
  }

  #end(): void {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }
}

const thread = new PatchThread();

export const patchInThread = (order: PatchOrder): Promise<string | undefined> => thread.patch(order);

/** Bundled, this file is among the chunks. */
function workerModule(): URL {
  const here = import.meta.url;
  return here.endsWith(".ts")
    ? new URL("./worker-from-source.mjs", here)
    : new URL("../threads/patches/worker.js", here);
}
