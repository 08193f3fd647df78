/**
 * The only place that starts programs. So each program has a chosen directory, variables and process group, and
 * inherits nothing else of this process; `tests/process-census.test.ts` checks it.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";

export interface ProgramOptions {
  readonly cwd: string;
  /** All variables of the program. */
  readonly env: Readonly<Record<string, string>>;
}

export interface StartOptions extends ProgramOptions {
  readonly stdio: NonNullable<SpawnOptions["stdio"]>;
  /**
   * `own`: the program leads a process group, which can be ended as a whole. `shared`: it stays in the group of this
   * process, as programs that use its terminal must.
   */
  readonly group: "own" | "shared";
  readonly argv0?: string;
  /** On Windows the arguments are handed on as they are, for `cmd.exe`. */
  readonly verbatim?: boolean;
  /** The user it runs as; only root can name another one. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** `program` is an absolute path; no shell reads the arguments. */
export function startProgram(
  program: string,
  args: readonly string[],
  { cwd, env, stdio, group, argv0, verbatim = false, uid, gid }: StartOptions,
): ChildProcess {
  return spawn(program, [...args], {
    ...{ cwd, env: { ...env }, stdio, detached: group === "own", windowsHide: true },
    windowsVerbatimArguments: verbatim,
    ...(argv0 === undefined ? {} : { argv0 }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
}

export interface ProgramResult {
  /** null: it did not run, or was ended by a signal. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** For a program of the system that answers at once: this process waits for it, at most `timeoutMs`. */
export function runProgramSync(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs }: ProgramOptions & { readonly timeoutMs: number },
): ProgramResult {
  const options = { cwd, env: { ...env }, encoding: "utf8", timeout: timeoutMs, windowsHide: true } as const;
  const { status, stdout, stderr } = spawnSync(program, [...args], options);
  return { status, stdout: stdout ?? "", stderr: stderr ?? "" };
}
