/** A worker thread and the calls it has not answered yet. */
import { Worker } from "node:worker_threads";
import { DeepwrightError } from "deepwright/errors";
import { errorOf, type Reply, type Request } from "./messages.ts";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Keeps the process alive while it works, and only then. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #death: DeepwrightError | undefined;

  constructor() {
    this.#worker = startWorker();
    this.#worker.unref();
    this.#worker.on("message", (reply: Reply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#die(error));
    this.#worker.on("messageerror", (error) => this.#die(error));
    this.#worker.on("exit", () => this.#die(undefined));
  }

  get alive(): boolean {
    return this.#death === undefined;
  }

  call(service: string, method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#death) return Promise.reject(this.#death);
    return new Promise((resolve, reject) => {
      const request: Request = { id: this.#calls++, service, method, args };
      this.#worker.postMessage(request);
      this.#waiting.set(request.id, { resolve, reject });
      if (this.#waiting.size === 1) this.#worker.ref();
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (reply.failure) waiting?.reject(errorOf(reply.failure));
    else waiting?.resolve(reply.value);
  }

  #die(cause: unknown): void {
    this.#death ??= new DeepwrightError("STORAGE_UNAVAILABLE", "The thread of the database has ended.", {
      hint: "Open the database again; it has all acknowledged writes.",
      cause,
    });
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(this.#death);
  }
}

/** Bundled or not, this file is in a directory beside `sqlite`. */
function startWorker(): Worker {
  const fromSource = import.meta.url.endsWith(".ts");
  const name = fromSource ? "worker-from-source.mjs" : "worker.js";
  const execArgv = fromSource ? ["--conditions=source"] : [];
  return new Worker(new URL(`../sqlite/${name}`, import.meta.url), { execArgv });
}
