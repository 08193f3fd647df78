/** Starts the real program in a process of its own, in a clean environment. For tests only. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";

/** Built from the sources once for all tests. */
export const MAIN = await builtProgram();

async function builtProgram(): Promise<string> {
  const broker = process.env.TEST_BROKER;
  if (!broker) throw new Error("Run tests with vitest from the root of the repository.");
  const response = await fetch(`${broker}/program`);
  const text = await response.text();
  if (!response.ok) throw new Error(`The program could not be built: ${text}`);
  return text;
}

export interface BinaryOptions {
  readonly cwd: string;
  /** Beside what a process needs to start at all; no keys, and no Ollama to be found. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: stdin is empty. */
  readonly stdin?: string;
  /** Stdin is a pipe nobody writes to or closes, as some programs hand it on. */
  readonly idleStdin?: boolean;
  /** A program and its words that start it in another surrounding; absent: it is started plainly. */
  readonly launcher?: readonly string[];
}

export interface BinaryResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, for checks that something appears nowhere. */
  readonly all: string;
}

export interface RunningBinary {
  readonly child: ChildProcess;
  readonly result: Promise<BinaryResult>;
  /** The stdout so far. */
  stdout(): string;
  /** Resolves when stdout and stderr together hold `text`. */
  shows(text: string): Promise<void>;
}

export function startBinary(args: readonly string[], options: BinaryOptions): RunningBinary {
  const [program = "", ...words] = [...(options.launcher ?? []), process.execPath, MAIN, ...args];
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: environmentFor(options),
    stdio: "pipe",
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  if (!options.idleStdin) child.stdin.end(options.stdin ?? "");
  const result = new Promise<BinaryResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr, all: stdout + stderr }));
  });
  const shows = async (text: string): Promise<void> => {
    const isEnded = await eventually(() => {
      if ((stdout + stderr).includes(text)) return false;
      if (child.exitCode !== null) return true;
      throw new Error(`It does not show '${text}':\n${stdout}${stderr}`);
    });
    if (isEnded) throw new Error(`It ended without showing '${text}':\n${stdout}${stderr}`);
  };
  return { child, result, stdout: () => stdout, shows };
}

export function environmentFor({ cwd, env }: BinaryOptions): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: `${cwd}.user`,
    OLLAMA_HOST: "127.0.0.1:1",
    DEEPWRIGHT_HOME: homeOf(cwd),
    ...env,
  };
}

/** Where runs in this directory keep their threads: beside it, so that it is no part of the work. */
export function homeOf(cwd: string): string {
  return `${cwd}.home`;
}

export function runBinary(args: readonly string[], options: BinaryOptions): Promise<BinaryResult> {
  return startBinary(args, options).result;
}

/** A new directory with these files, removed when the test is over. */
export async function directoryWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-cli-"));
  onTestFinished(async () => {
    for (const path of [directory, homeOf(directory)]) await rm(path, { recursive: true, force: true });
  });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}
