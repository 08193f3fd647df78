/** `deepwright threads` as a function, with the command line read as the program reads it. For tests only. */
import { PassThrough } from "node:stream";
import { CommandError } from "../command-error.ts";
import { commandLine } from "../command-line.ts";
import type { ExitCode } from "../exit-codes.ts";
import { act } from "../threads/threads-command.ts";

export interface ThreadsResult {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Threads are kept in `home`; relative paths are those of the test's own process. */
export async function threadsIn(home: string, args: readonly string[], db?: string): Promise<ThreadsResult> {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const env = { DEEPWRIGHT_HOME: home, ...(db === undefined ? {} : { DEEPWRIGHT_DB: db }) };
  const around = { stdin, stdout, stderr, env } as never;
  let said = "";
  const code = await commandLine(["threads", ...args], {
    run: () => Promise.reject(new Error("not a command of threads")),
    memory: () => Promise.reject(new Error("not a command of threads")),
    serve: () => Promise.reject(new Error("not a command of threads")),
    mcp: () => Promise.reject(new Error("not a command of threads")),
    trust: () => Promise.reject(new Error("not a command of threads")),
    threads: (action, words, options) => act(action, words, options, around, new AbortController().signal),
  }).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    said = [error.message, error.hint].filter(Boolean).join(" ");
    return error.exitCode;
  });
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") + said };
}
