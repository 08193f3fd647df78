/** `deepwright threads`: puts the pieces together. Returns the exit code. */
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type Action, backup, copy, diff, list, prune, remove, rename, rewind, show } from "./actions.ts";
import { bisect } from "./bisect-action.ts";
import { asCommandError, type Surroundings, ThreadsContext } from "./context.ts";
import { du } from "./du-action.ts";
import { adopt, compare } from "./fork-actions.ts";
import type { RawThreadsOptions, ThreadsAction } from "./threads-command-line.ts";
import { toTest } from "./to-test-action.ts";
import { exportThread, importThread, move } from "./transfer-actions.ts";
import { blame, restore } from "./undo-actions.ts";

const ACTIONS: Readonly<Record<ThreadsAction, Action>> = {
  list,
  show,
  delete: remove,
  copy,
  rename,
  diff,
  rewind,
  restore,
  blame,
  bisect,
  compare,
  adopt,
  du,
  /** Loads the rules of commands. */
  rehearse: async (...request) => (await import("./rehearse-action.ts")).rehearse(...request),
  export: exportThread,
  import: importThread,
  "to-test": toTest,
  prune,
  backup,
  move,
};

export async function threadsCommand(
  action: ThreadsAction,
  words: readonly string[],
  options: RawThreadsOptions,
): Promise<ExitCode> {
  const stop = new AbortController();
  let code: ExitCode = EXIT.done;
  const listen = (signal: "SIGINT" | "SIGTERM", stopped: ExitCode): void => {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(stopped);
      code = stopped;
      stop.abort();
    });
  };
  listen("SIGINT", EXIT.interrupted);
  listen("SIGTERM", EXIT.terminated);
  // A reader that has gone gets no more output; the requested work is still done.
  process.stdout.on("error", () => {
    code = EXIT.failed;
  });
  const ended = await act(action, words, options, process, stop.signal);
  return code === EXIT.done ? ended : code;
}

/** Throws a CommandError for problems that a person can fix. */
export async function act(
  action: ThreadsAction,
  words: readonly string[],
  options: RawThreadsOptions,
  around: Surroundings,
  signal: AbortSignal,
): Promise<ExitCode> {
  const context = new ThreadsContext(options, around, signal);
  try {
    await ACTIONS[action](context, words);
  } catch (error) {
    if (!signal.aborted) throw asCommandError(error, around.env);
    context.console.line("Stopped.");
  } finally {
    await context.close();
  }
  return context.exitCode;
}
