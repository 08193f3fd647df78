/** A worker seen from its parent. */
import { type ChildProcess, spawn } from "node:child_process";
import type { WorkerFailure, WorkerReply, WorkerRequest, WorkerResults } from "./plan.ts";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A failure inside a worker; `code` is that of its DeepwrightError. */
export class WorkerError extends Error {
  readonly code: string | undefined;

  constructor(act: string, { code, message, stack }: WorkerFailure) {
    super(`${act}: ${code ?? "untyped"}: ${message}`);
    this.code = code;
    if (stack !== undefined) this.stack = stack;
  }
}

/** The process ended before it answered. */
export class WorkerGone extends Error {}

export class WorkerProcess {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting & { readonly act: string }>();
  #asked = 0;
  #errors = "";
  #gone = false;

  constructor(command: string, parameters: readonly string[]) {
    this.#child = spawn(command, parameters, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.stderr?.on("data", (data) => {
      this.#errors = `${this.#errors}${data}`.slice(-4_000);
    });
    let isReady = (): void => {};
    this.ready = new Promise((resolve, reject) => {
      isReady = resolve;
      this.#waiting.set(-1, { act: "start", resolve: () => {}, reject });
    });
    this.ready.catch(() => {});
    this.ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.ended.then(() => this.#end());
    this.#child.once("error", () => this.#end());
    this.#child.on("message", (reply: WorkerReply) => {
      if (reply.id !== "ready") return this.#settle(reply);
      this.#waiting.delete(-1);
      isReady();
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Rejects with WorkerError, or with WorkerGone when the process ends first. */
  ask<Request extends WorkerRequest>(request: Request): Promise<WorkerResults[Request["act"]]> {
    const id = this.#asked++;
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { act: request.act, resolve, reject });
      if (this.#gone) return this.#end();
      this.#child.send({ id, request }, (error) => {
        if (error) this.#fail(id, new WorkerGone(`${request.act}: ${error.message}`));
      });
    });
    answered.catch(() => {});
    return answered as Promise<WorkerResults[Request["act"]]>;
  }

  /** Without a chance to tidy up; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#gone) return;
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  continue(): void {
    this.#child.kill("SIGCONT");
  }

  #settle({ id, value, failure }: Exclude<WorkerReply, { id: "ready" }>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure) waiting?.reject(new WorkerError(waiting.act, failure));
    else waiting?.resolve(value);
  }

  #fail(id: number, error: Error): void {
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
  }

  #end(): void {
    this.#gone = true;
    const { signalCode, exitCode } = this.#child;
    for (const [id, { act }] of this.#waiting)
      this.#fail(id, new WorkerGone(`${act}: the worker ended (${signalCode ?? exitCode}). ${this.#errors}`));
  }
}

/** The code of the error a worker answers with, or what else became of it. */
export async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return "success";
  } catch (error) {
    return error instanceof WorkerError ? (error.code ?? error.message) : String(error);
  }
}
