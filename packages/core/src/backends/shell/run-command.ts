/** One command in a shell: bounded in time and memory, and nothing of it is left when it is over. */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, existsSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";
import type { ExecuteResponse } from "../backend.ts";
import { SandboxError } from "../sandbox-error.ts";
import { busyTurn } from "./busy-turn.ts";
import { startProgram } from "./child-process.ts";
import { collectFromPipe, collectFromStreams, type OutputCollector } from "./collect-output.ts";
import { type OutputPipe, openOutputPipe, releaseOutputPipe } from "./output-pipe.ts";
import { type CommandProcess, callMark, killCommand, terminateCommand } from "./process-tree.ts";
import { endWithThisProcess } from "./running-commands.ts";
import { firstOf, type Stop, stopFor } from "./stop.ts";

export interface RunCommandOptions {
  /** Not resolved: `pwd` shows a link as a link. */
  readonly cwd: string;
  /** All variables the command sees; a mark of the call is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Absent: no limit. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
  /** Output kept; half of it from the beginning, half from the end. */
  readonly maxOutputBytes: number;
  /** Called with the end of the output so far, at most twice a second while there is more. */
  readonly onOutput?: ((tail: string) => void) | undefined;
  /** Default: bash where it is installed, because models write for it, else `/bin/sh`. */
  readonly shell?: string;
  /** Opens the pipe for the output. Without a pipe two sockets are used, and the order is that of arrival. */
  readonly openPipe?: () => Promise<OutputPipe | undefined>;
  /** Puts another program before the shell. Absent: the shell is started directly. */
  readonly launch?: (shell: readonly string[]) => CommandLaunch;
  /** Starts the command through another process, which opens the pipe by its name. Without a pipe, `launch` is used. */
  readonly begin?: (shell: readonly string[], pipe: OutputPipe) => Promise<BegunCommand>;
}

/** A command that another process has started for us: all it starts ends with it. */
export interface BegunCommand {
  readonly pid: number;
  readonly exited: Promise<CommandExit>;
  /** Nothing happens once it has ended. */
  signal(signal: NodeJS.Signals): void;
}

export interface CommandExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that runs the shell in a place of its own, where it ends with that program. */
export interface CommandLaunch {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** Descriptors that only this program gets, as 3, 4, …; undefined for none. The caller closes them. */
  readonly descriptors?: readonly (number | undefined)[];
  /** Descriptor for standard input, closed by the caller; absent: the machine's empty device. */
  readonly input?: number;
  /** The user it runs as; only root can name another one. */
  readonly uid?: number;
  readonly gid?: number;
  /** Called with the process id as soon as there is one. */
  readonly onStart?: (pid: number) => void;
}

/** The longest single argument of a program on Linux. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;
/** Milliseconds between the request to end and the kill. */
const GRACE = 500;
/** Milliseconds that background processes may keep writing after the shell has ended: in all, and without output. */
const DRAIN_LIMIT = 2000;
const DRAIN_SILENCE = 500;
/** Milliseconds for the kernel to carry out a kill. */
const KILL_LIMIT = 1000;
const TIMED_OUT = 124;
/** Milliseconds between two reports of output, and the characters of one. */
const REPORT_EVERY = 500;
const REPORTED = 4_000;

interface Started {
  /** Absent: it is not ours. */
  readonly child?: ChildProcess;
  readonly process: CommandProcess;
  readonly exited: Promise<CommandExit>;
}

interface Run {
  readonly started: Started;
  readonly output: OutputCollector;
  readonly stop: Stop;
}

/**
 * Standard input is empty. A time-out asks the process group to end, then kills it, and returns exit code 124 with the
 * output so far. An abort kills at once and throws the signal's reason. Background processes end with the command.
 */
export async function runCommand(command: string, options: RunCommandOptions): Promise<ExecuteResponse> {
  if (isEmpty(command)) return { output: "The command is empty.", exitCode: 1, truncated: false };
  checkCommand(command);
  options.signal?.throwIfAborted();
  const pipe = await (options.openPipe ?? openOutputPipe)();
  const started = await start(command, options, pipe);
  const forget = endWithThisProcess(started.process);
  const stop = stopFor(options.timeoutSeconds, options.signal);
  const output = collect(started.child, options.maxOutputBytes, pipe);
  const report = options.onOutput && reportOutput(output, options.onOutput);
  try {
    return await settle({ started, output, stop });
  } finally {
    stop.dispose();
    forget();
    clearInterval(report);
    output.close();
    if (pipe !== undefined) await releaseOutputPipe(pipe, output.hasEnded());
  }
}

/** Whole lines, where the output has any: a part of a line may be a part of a secret. */
function reportOutput(output: OutputCollector, onOutput: (tail: string) => void): NodeJS.Timeout {
  let reported = 0;
  return setInterval(() => {
    if (output.received() === reported) return;
    reported = output.received();
    const { output: text } = output.collected();
    const tail = text.slice(-REPORTED);
    onOutput(tail.length < text.length ? tail.slice(tail.indexOf("\n") + 1) : tail);
  }, REPORT_EVERY);
}

function isEmpty(command: unknown): boolean {
  return typeof command !== "string" || command.trim() === "";
}

function checkCommand(command: string): void {
  if (command.includes("\0")) throw invalid("The command contains a NUL character.");
  if (!command.isWellFormed()) throw invalid("The command is not valid Unicode.");
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES)
    throw invalid(
      `The command has ${bytes} bytes, but at most ${MAX_COMMAND_BYTES} can be run: write it to a file and run that.`,
    );
}

function invalid(message: string): SandboxError {
  return new SandboxError(message, "INVALID_COMMAND");
}

async function start(
  command: string,
  options: RunCommandOptions,
  pipe: OutputPipe | undefined,
): Promise<Started> {
  const callId = randomUUID();
  try {
    if (options.begin !== undefined && pipe !== undefined) {
      const { exited, ...begun } = await options.begin(shellWords(command, options), pipe);
      return { process: { ...begun, callId, isAlone: true }, exited };
    }
    await busyTurn();
    const child = spawnShell(
      command,
      { ...options.env, PWD: options.cwd, ...callMark(callId) },
      options,
      pipe,
    );
    const exited = exitOf(child);
    const isAlone = options.launch !== undefined;
    if (child.pid !== undefined) return { child, process: { pid: child.pid, callId, isAlone }, exited };
    await exited;
    throw new Error("The shell has no process id.");
  } catch (error) {
    if (pipe !== undefined) {
      closeSync(pipe.readEnd);
      await releaseOutputPipe(pipe, true);
    }
    throw notStarted(error, options.cwd);
  } finally {
    if (pipe !== undefined) closeSync(pipe.writeEnd);
  }
}

function spawnShell(
  command: string,
  env: Record<string, string>,
  options: RunCommandOptions,
  pipe: OutputPipe | undefined,
): ChildProcess {
  const { cwd, launch } = options;
  const output = pipe === undefined ? "pipe" : pipe.writeEnd;
  const words = shellWords(command, options);
  if (launch !== undefined) return spawnLaunch(launch(words), cwd, env, output);
  const [shell, ...args] = words;
  return startProgram(shell, args, {
    cwd,
    env,
    argv0: basename(shell),
    group: "own",
    stdio: ["ignore", output, output],
  });
}

/** A shell reads a command that begins with `-` or `+` as its own option. */
function shellWords(command: string, { shell = usualShell() }: RunCommandOptions): [string, string, string] {
  return [shell, "-c", /^[-+]/.test(command) ? ` ${command}` : command];
}

function spawnLaunch(
  { program, args, descriptors = [], input, uid, gid, onStart }: CommandLaunch,
  cwd: string,
  env: Record<string, string>,
  output: number | "pipe",
): ChildProcess {
  const child = startProgram(program, args, {
    cwd,
    env,
    group: "own",
    stdio: [input ?? "ignore", output, output, ...descriptors.map((descriptor) => descriptor ?? "ignore")],
    uid,
    gid,
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  return child;
}

let foundShell: string | undefined;

function usualShell(): string {
  foundShell ??= ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find(existsSync) ?? "/bin/sh";
  return foundShell;
}

function exitOf(child: ChildProcess): Promise<CommandExit> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.on("error", reject);
  });
}

/** The error does not show the path of the directory. */
function notStarted(error: unknown, cwd: string): SandboxError {
  if (SandboxError.isInstance(error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  if (code === "E2BIG")
    return invalid("The command and its environment are too long: write it to a file and run that.");
  const why = existsSync(cwd) ? `the shell could not be started (${code})` : "the working directory is gone";
  return new SandboxError(`The command was not run: ${why}.`, "COMMAND_FAILED", error);
}

function collect(
  child: ChildProcess | undefined,
  maxBytes: number,
  pipe: OutputPipe | undefined,
): OutputCollector {
  return pipe === undefined
    ? collectFromStreams([child?.stdout ?? null, child?.stderr ?? null], maxBytes)
    : collectFromPipe(pipe.readEnd, maxBytes);
}

async function settle(run: Run): Promise<ExecuteResponse> {
  const { started, output, stop } = run;
  const first = await Promise.race([started.exited, stop.requested]);
  if (first === "abort") return abandon(run);
  if (first === "timeout") await terminate(run);
  else await drain(run);
  if (stop.isAborted()) return abandon(run);
  if (first !== "timeout") {
    await busyTurn();
    killCommand(started.process);
  }
  const exit = await firstOf(
    KILL_LIMIT,
    Promise.all([started.exited, output.ended]).then(([exit]) => exit),
  );
  return { ...output.collected(), ...(first === "timeout" ? timedOut(exit) : ended(first)) };
}

/** Does not wait longer for the processes than a kill usually takes: the caller has stopped. */
async function abandon({ started, stop }: Run): Promise<never> {
  killCommand(started.process);
  await firstOf(GRACE, started.exited);
  throw stop.abortReason();
}

async function terminate({ started, output, stop }: Run): Promise<void> {
  const known = terminateCommand(started.process);
  await firstOf<unknown>(GRACE, Promise.all([started.exited, output.ended]), stop.aborted);
  killCommand(started.process, known);
}

async function drain({ output, stop }: Run): Promise<void> {
  const end = performance.now() + DRAIN_LIMIT;
  for (let before = -1; before !== output.received() && performance.now() < end; ) {
    before = output.received();
    if (await firstOf(DRAIN_SILENCE, output.ended.then(isTrue), stop.aborted.then(isTrue))) return;
  }
}

const isTrue = (): true => true;

function timedOut(exit: CommandExit | undefined): Pick<ExecuteResponse, "exitCode" | "signal"> {
  return { exitCode: TIMED_OUT, signal: exit?.signal ?? (exit === undefined ? "SIGKILL" : "SIGTERM") };
}

function ended({ code, signal }: CommandExit): Pick<ExecuteResponse, "exitCode" | "signal"> {
  if (signal === null) return { exitCode: code };
  return { exitCode: 128 + constants.signals[signal], signal };
}
