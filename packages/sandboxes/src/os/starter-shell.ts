/** One shell that starts commands, and its reports: `ready <pid>`, `started <name>`, `ended <pid> <code>`. */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { SandboxError } from "deepwright";
import { type BegunCommand, type CommandExit, startProgram } from "deepwright/internal";
import type { Owner } from "./lease/lease-directory.ts";
import { withoutInherited } from "./linux/inherited-descriptors.ts";
import { FIRST_PLACE } from "./set-up-report.ts";

export interface ShellRequest {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly owner: Owner | undefined;
  readonly emptyDevice: string;
  /** Handed on from `FIRST_PLACE` on. */
  readonly descriptors: readonly number[];
}

/** A process that is ready, or a command. */
interface Helper {
  readonly pid: number;
  settle(exit: CommandExit): void;
  readonly exited: Promise<CommandExit>;
}

interface Waiting {
  readonly name: string;
  resolve(helper: Helper): void;
  reject(error: Error): void;
}

export class StarterShell {
  readonly #child: ChildProcess;
  readonly #helpers = new Map<number, Helper>();
  /** One after the other: one process is ready at a time. */
  readonly #waiting: Waiting[] = [];
  #ready: Helper | undefined;
  #isUsable = true;
  /** Resolves when it has ended, with all that it started. */
  readonly ended: Promise<void>;

  constructor(request: ShellRequest) {
    this.#child = spawnShell(request);
    const { stdin, stdout, stdio } = this.#child;
    if (stdout !== null) createInterface(stdout).on("line", (line) => this.#answer(line));
    for (const stream of [stdin, stdio[3]]) stream?.on("error", () => {});
    for (const waited of [this.#child, ...stdio]) reference(waited, false);
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#over(resolve, error));
      this.#child.once("exit", () => this.#cannotGoOn());
      this.#child.once("close", () => this.#over(resolve));
    });
    this.#prepare();
  }

  /**
   * False: it can start nothing more, for example because the limit of processes is reached. Started commands continue.
   */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Starts the command in the file `name`. Rejects only if the command was not started. */
  async begin(name: string): Promise<BegunCommand> {
    const helper = await new Promise<Helper>((resolve, reject) => {
      this.#waiting.push({ name, resolve, reject });
      this.#holdAlive();
      if (this.#waiting.length === 1) this.#hand();
    });
    return commandOf(helper);
  }

  /** Safe twice, until it has ended. */
  async close(): Promise<void> {
    for (const waited of [this.#child, ...this.#child.stdio]) reference(waited, true);
    if (this.#isUsable) this.#child.stdin?.end();
    else if (this.#child.pid !== undefined) signalProcess(-this.#child.pid, "SIGKILL");
    await this.ended;
  }

  #answer(line: string): void {
    const [word, number, code] = line.split(" ");
    if (word === "ready") this.#addReady(Number(number));
    else if (word === "started") this.#isStarted();
    else this.#hasEnded(Number(number), Number(code));
    this.#holdAlive();
  }

  #prepare(): void {
    if (this.#isUsable) this.#child.stdin?.write("\n");
    else this.#refuseAll();
  }

  #addReady(pid: number): void {
    let settle: Helper["settle"] = () => {};
    const exited = new Promise<CommandExit>((resolve) => {
      settle = resolve;
    });
    this.#ready = { pid, settle, exited };
    this.#helpers.set(pid, this.#ready);
    this.#hand();
  }

  /** Gives the waiting process its command. */
  #hand(): void {
    const [first] = this.#waiting;
    if (first !== undefined && this.#ready !== undefined)
      (this.#child.stdio[3] as Writable).write(`${first.name}\n`);
  }

  #isStarted(): void {
    const helper = this.#ready;
    this.#ready = undefined;
    if (helper !== undefined) this.#waiting.shift()?.resolve(helper);
    this.#prepare();
  }

  #hasEnded(pid: number, code: number): void {
    this.#helpers.get(pid)?.settle({ code, signal: null });
    this.#helpers.delete(pid);
    if (this.#ready?.pid !== pid) return;
    this.#ready = undefined;
    this.#waiting.shift()?.reject(notStarted());
    this.#prepare();
  }

  #cannotGoOn(): void {
    this.#isUsable = false;
    if (this.#ready === undefined) this.#refuseAll();
  }

  #refuseAll(error?: Error): void {
    for (const call of this.#waiting.splice(0)) call.reject(notStarted(error));
  }

  #over(resolve: () => void, error?: Error): void {
    this.#isUsable = false;
    for (const helper of this.#helpers.values()) helper.settle({ code: null, signal: "SIGKILL" });
    this.#helpers.clear();
    this.#refuseAll(error);
    resolve();
  }

  /** This process does not end while a command runs. */
  #holdAlive(): void {
    const running = this.#helpers.size - (this.#ready === undefined ? 0 : 1);
    reference(this.#child.stdout, running + this.#waiting.length > 0);
  }
}

function spawnShell({ args, env, owner, emptyDevice, descriptors }: ShellRequest): ChildProcess {
  const nothing = openSync(emptyDevice, "r");
  const own = Array<number>(FIRST_PLACE - 3).fill(nothing);
  const [, ...others] = withoutInherited([...own, ...descriptors], nothing);
  try {
    return startProgram("/bin/sh", args, {
      cwd: "/",
      env,
      group: "own",
      stdio: ["pipe", "pipe", nothing, "pipe", ...others.map((other) => other ?? "ignore")],
      ...owner,
    });
  } finally {
    closeSync(nothing);
  }
}

function commandOf({ pid, exited }: Helper): BegunCommand {
  let sent: NodeJS.Signals | null = null;
  let isRunning = true;
  return {
    pid,
    exited: exited.then((exit) => {
      isRunning = false;
      return sent === null ? exit : { code: null, signal: sent };
    }),
    signal: (name) => {
      if (!isRunning) return;
      sent = name;
      signalProcess(pid, name);
    },
  };
}

function notStarted(cause?: Error): SandboxError {
  return new SandboxError("The command was not run: it could not be started.", "COMMAND_FAILED", cause);
}

/** Whether this process waits for it before it ends. */
function reference(one: unknown, isNeeded: boolean): void {
  const handle = one as { ref?(): void; unref?(): void } | null | undefined;
  if (isNeeded) handle?.ref?.();
  else handle?.unref?.();
}

/** No error when it is gone. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
