/** Waiting that ends the moment a signal is aborted. */

/** The error of an aborted call: always named `AbortError`; a reason of another kind is its `cause`. */
export function abortError(signal: AbortSignal): Error {
  const { reason } = signal;
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  const error = new Error("The model call was aborted.", { cause: reason });
  error.name = "AbortError";
  return error;
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** Settles like `work`, but rejects at once on an abort. Leaves no listener behind. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Waits `milliseconds`; an abort ends the wait and clears its timer. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await untilAborted(timeout, signal);
  } finally {
    clearTimeout(timer);
  }
}
