/** Reasons that end a command from outside: its time limit, or an abort. */
import { after } from "../../duration.ts";

export interface Stop {
  /** Resolves with whichever comes first, or never. */
  readonly requested: Promise<"timeout" | "abort">;
  /** Resolves on an abort, also after the time was up. */
  readonly aborted: Promise<void>;
  isAborted(): boolean;
  abortReason(): unknown;
  /** Clears the timer and the listener. */
  dispose(): void;
}

export function stopFor(seconds: number | undefined, signal: AbortSignal | undefined): Stop {
  const cleanUp: (() => void)[] = [];
  const aborted = new Promise<void>((resolve) => {
    if (signal === undefined) return;
    const onAbort = (): void => resolve();
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    cleanUp.push(() => signal.removeEventListener("abort", onAbort));
  });
  const timeout = new Promise<"timeout">((resolve) => {
    if (seconds === undefined) return;
    cleanUp.push(after(seconds * 1000, () => resolve("timeout")));
  });
  return {
    requested: Promise.race([timeout, aborted.then((): "abort" => "abort")]),
    aborted,
    isAborted: () => signal?.aborted ?? false,
    abortReason: () => signal?.reason,
    dispose: () => {
      for (const clean of cleanUp) clean();
    },
  };
}

/** The first of the promises to resolve; undefined when none did within that many milliseconds. */
export async function firstOf<T>(
  milliseconds: number,
  ...promises: readonly Promise<T>[]
): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([...promises, late]);
  } finally {
    clearTimeout(timer);
  }
}
