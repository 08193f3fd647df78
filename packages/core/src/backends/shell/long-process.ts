/** A program that runs beside this one for a while and is talked to by its pipes; nothing of it is left in the end. */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { startProgram } from "./child-process.ts";
import { commandEnvironment } from "./environment.ts";
import { callMark, killCommand, terminateCommand } from "./process-tree.ts";
import { endWithThisProcess } from "./running-commands.ts";
import { firstOf } from "./stop.ts";

export interface LongProcessOptions {
  /** An absolute path: nothing is searched for. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Beside the few harmless variables every command gets. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface LongProcess {
  readonly child: ChildProcess;
  /** Resolves when it has ended, or could not be started. */
  readonly ended: Promise<void>;
  /**
   * Closes its input, asks it and all its descendants to end, and kills the rest after `graceMs`. Calling it twice is
   * safe.
   */
  stop(graceMs?: number): Promise<void>;
}

const GRACE = 500;

/** Leader of a process group of its own; it ends with this process unless that is killed at once, which closes its input. */
export function startLongProcess({ program, args, cwd, env }: LongProcessOptions): LongProcess {
  const callId = randomUUID();
  const child = startProgram(program, args, {
    cwd,
    env: { ...commandEnvironment({ env: env ?? {} }), ...callMark(callId) },
    stdio: ["pipe", "pipe", "pipe"],
    group: "own",
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  const { pid } = child;
  if (pid === undefined) return { child, ended, stop: () => ended };
  const command = { pid, callId };
  const forget = endWithThisProcess(command);
  let stopped: Promise<void> | undefined;
  return {
    child,
    ended,
    stop: (graceMs = GRACE) => {
      stopped ??= (async () => {
        child.stdin?.end();
        const known = terminateCommand(command);
        await firstOf(graceMs, ended);
        killCommand(command, known);
        await ended;
        forget();
      })();
      return stopped;
    },
  };
}
