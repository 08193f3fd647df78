/** Keeps a sandbox alive while it is used, and tells when it was not used for its time. Its timers hold no process. */
import { after, every, stopwatch } from "deepwright/duration";
import type { OpenedSandbox } from "../provider.ts";

export interface Upkeep {
  begin(): void;
  end(): void;
  /** No more timers. */
  stop(): void;
}

const MOST_SECONDS_BETWEEN = 60;

/** `ttl` in seconds, or Infinity. */
export function upkeepOf(opened: OpenedSandbox, ttl: number, onIdle: () => void): Upkeep {
  let users = 0;
  let isStopped = false;
  let sinceSignal = stopwatch();
  let stopIdle = (): void => {};
  let stopTelling: (() => void) | undefined;
  const between = Math.min(ttl / 3, MOST_SECONDS_BETWEEN) * 1000;
  const tell = (): void => {
    sinceSignal = stopwatch();
    // The next call shows whether the sandbox still exists.
    opened.keepAlive?.().catch(() => {});
  };
  const rest = (): void => {
    stopTelling?.();
    stopTelling = undefined;
    if (!isStopped) stopIdle = after(ttl * 1000, onIdle, { ref: false });
  };
  const upkeep: Upkeep = {
    begin: () => {
      users += 1;
      stopIdle();
      if (isStopped || opened.keepAlive === undefined) return;
      if (sinceSignal() >= between) tell();
      stopTelling ??= every(between, tell, { ref: false });
    },
    end: () => {
      users -= 1;
      if (users === 0) rest();
    },
    stop: () => {
      isStopped = true;
      stopIdle();
      stopTelling?.();
    },
  };
  rest();
  return upkeep;
}
