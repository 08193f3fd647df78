/** A server seen from its parent. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerSettings } from "./server-program.ts";

export class ServerProcess {
  /** Where it answers; rejects when the process ends first. */
  readonly ready: Promise<string>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = "";

  constructor(program: string, settings: ServerSettings) {
    this.#child = spawn(process.execPath, [program, JSON.stringify(settings)], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.on("data", (data) => {
      this.#errors = `${this.#errors}${data}`.slice(-4_000);
    });
    this.#ended = new Promise((resolve) => this.#child.once("close", () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      this.#child.once("message", ({ url }: { url: string }) => resolve(url));
      void this.#ended.then(() => reject(new Error(`The server ended: ${this.ending}`)));
    });
    this.ready.catch(() => {});
  }

  /** Until then it loads its code and waits. */
  begin(): this {
    this.#child.send("begin", () => {});
    return this;
  }

  /** How it ended and its last words; undefined while it lives. */
  get ending(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    return exitCode === null && signalCode === null ? undefined : `${signalCode ?? exitCode} ${this.#errors}`;
  }

  /** Stands still for a while, as on a machine that has too much to do, and goes on as if nothing had been. */
  async pause(ms: number): Promise<void> {
    this.#child.kill("SIGSTOP");
    await sleep(ms);
    this.#child.kill("SIGCONT");
  }

  /** Without a chance to tidy up; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
