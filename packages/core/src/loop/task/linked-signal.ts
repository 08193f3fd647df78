/** A signal for one run. It leaves no listener on the caller's signal when the run is over. */
export interface LinkedSignal {
  /** Undefined when there is nothing to follow. */
  readonly signal: AbortSignal | undefined;
  release(): void;
}

const UNLINKED: LinkedSignal = { signal: undefined, release: () => undefined };

/**
 * The engine adds listeners to a signal and never removes them; on a signal that outlives the run they would add up. A
 * signal for one run is dropped with its listeners. Node warns of many listeners on one signal, so each run gets its
 * own view of it.
 */
export function linkedSignal(signal: AbortSignal | undefined): LinkedSignal {
  if (signal === undefined) return UNLINKED;
  const own = new AbortController();
  const follow = (): void => own.abort(signal.reason);
  if (signal.aborted) follow();
  const view = AbortSignal.any([signal]);
  view.addEventListener("abort", follow, { once: true });
  return { signal: own.signal, release: () => view.removeEventListener("abort", follow) };
}
