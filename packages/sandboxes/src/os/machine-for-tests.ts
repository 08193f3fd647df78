/** Runs sandboxes in processes that have other rights, or see another machine, than this one. */
import { execFile } from "node:child_process";
import { chownSync } from "node:fs";
import { promisify } from "node:util";
import { testProgram } from "../../../../scripts/test-program.mjs";
import type { OsSandboxOptions } from "../os.ts";
import { scratchDirectory } from "./os-for-tests.ts";

export interface MachineTask {
  readonly options: OsSandboxOptions;
  readonly commands: readonly string[];
}

export interface MachineAnswer {
  /** Output of each command, with its exit code if that was not 0. */
  readonly outputs: readonly string[];
  /** Why the sandbox could not be opened or used; absent: it could. */
  readonly code?: string;
  readonly message?: string;
}

export const isRoot = process.getuid?.() === 0;
/** An ordinary user: us, or somebody without rights where we are root. */
export const USER = isRoot ? 12_345 : (process.getuid?.() ?? 0);

/** Words that make a process one of that user's. */
export const AS_USER = isRoot ? ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"] : [];

/** A directory of that user's, for one test. */
export function directoryOfUser(): string {
  const path = scratchDirectory();
  if (isRoot) chownSync(path, USER, USER);
  return path;
}

/** All in one process, one after the other. `before` are the words of a command that runs another one. */
export async function onMachine(
  before: readonly string[],
  tasks: readonly MachineTask[],
  env: Readonly<Record<string, string>> = {},
): Promise<MachineAnswer[]> {
  const program = await testProgram(new URL("./machine-program-for-tests.ts", import.meta.url));
  const [file = "", ...args] = [...before, process.execPath, program, JSON.stringify(tasks)];
  const { stdout } = await promisify(execFile)(file, args, {
    env: { PATH: process.env.PATH, ...env },
    maxBuffer: 10 * 1024 * 1024,
  });
  return JSON.parse(stdout) as MachineAnswer[];
}

/** Words that run the next ones after a shell has made the machine another one. */
export function after(script: string): readonly string[] {
  return ["/bin/sh", "-c", `${script} || exit 9\nexec "$@"`, "sh"];
}
