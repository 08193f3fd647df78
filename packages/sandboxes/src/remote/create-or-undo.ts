/** Creations at a vendor that leave nothing behind: neither after a failure nor after an abort. */
import { SandboxError } from "deepwright";

export interface Creation<Machine> {
  /** Throws a `SandboxError`. */
  create(): Promise<Machine>;
  end(machine: Machine): Promise<unknown>;
  /** Ends sandboxes of a creation without a usable answer. */
  sweep(): Promise<unknown>;
  /** Seconds it may take. */
  readonly timeout: number;
  readonly signal?: AbortSignal;
}

/** Milliseconds to wait for the end of an abandoned creation; a later result is still ended when it appears. */
const UNDO_WAIT = 10_000;

/** An abort is thrown with the signal's reason. */
export async function createOrUndo<Machine>(creation: Creation<Machine>): Promise<Machine> {
  const { signal, timeout } = creation;
  signal?.throwIfAborted();
  const creating = creation.create();
  const stopped = stopAfter(timeout * 1000, signal);
  try {
    const first = await Promise.race([creating.then((machine) => ({ machine })), stopped.promise]);
    if (first !== undefined) return first.machine;
  } catch (error) {
    if (isUnclear(error)) await atMost(UNDO_WAIT, creation.sweep());
    throw error;
  } finally {
    stopped.dispose();
  }
  await atMost(
    UNDO_WAIT,
    creating.then(
      (machine) => creation.end(machine),
      () => creation.sweep(),
    ),
  );
  signal?.throwIfAborted();
  throw new SandboxError(
    `The sandbox was not there after ${timeout} seconds. Try again, or raise openTimeout.`,
    "SANDBOX_UNAVAILABLE",
  );
}

/** Waits for `work`, but not longer; its failure is not of interest. */
export async function atMost<Value>(milliseconds: number, work: Promise<Value>): Promise<Value | undefined> {
  const stopped = stopAfter(milliseconds);
  try {
    return await Promise.race([work, stopped.promise]);
  } catch {
    return undefined;
  } finally {
    stopped.dispose();
  }
}

/** The request may have been carried out though its answer was lost. */
function isUnclear(error: unknown): boolean {
  return !SandboxError.isInstance(error) || error.code === "SANDBOX_UNAVAILABLE";
}

/** Resolves when the time is up or the signal is aborted. */
function stopAfter(
  milliseconds: number,
  signal?: AbortSignal,
): { readonly promise: Promise<undefined>; dispose(): void } {
  let dispose = (): void => undefined;
  const promise = new Promise<undefined>((resolve) => {
    const stop = (): void => resolve(undefined);
    const timer = setTimeout(stop, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
    dispose = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
  });
  return { promise, dispose };
}
