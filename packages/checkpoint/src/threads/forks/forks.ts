/** Forks of threads. Each operation loads its parts when it is first used. */
import type { SharedSaver } from "../../saver/shared-saver.ts";
import type { RestoreResult } from "../threads.ts";
import type { AdoptOptions, ComparedThread, Fork, ForkOptions } from "./fork-types.ts";

/**
 * Makes a thread that goes on from a step of another one, on a copy of a directory. Without a thread the fork begins
 * empty. The caller runs an agent on `directory` under `threadId`, and ends with `finish`, or with `close` where nothing
 * of the copy is to be kept.
 */
export async function forkThread(
  saver: SharedSaver,
  threadId: string | undefined,
  options: ForkOptions,
): Promise<Fork> {
  const { makeFork } = await import("./fork-thread.ts");
  return makeFork(saver, threadId, options);
}

/** Puts threads beside each other. Those that are no forks are compared by what they changed in `root`. */
export async function compareThreads(
  saver: SharedSaver,
  threadIds: readonly string[],
  options: { readonly root?: string | undefined } = {},
): Promise<readonly ComparedThread[]> {
  const { compare } = await import("./compare-threads.ts");
  return compare(saver, threadIds, options);
}

/**
 * Makes the changes of a finished fork in a directory, by a three-way merge. A thread that worked in the directory itself
 * makes its changes again, for example after they were taken back. `threads.restore(fork, { call })` with the
 * `call` of the result takes the adoption back.
 */
export async function adoptFork(
  saver: SharedSaver,
  threadId: string,
  options: AdoptOptions,
): Promise<RestoreResult> {
  const { adopt } = await import("./adopt-fork.ts");
  return adopt(saver, threadId, options);
}
