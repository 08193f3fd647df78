/** Keeps a sandbox alive while it is used, and tells when it was not used for its time. Its timers hold no process. */
import type { OpenedSandbox } from "../provider.ts";

export interface Upkeep {
  begin(): void;
  end(): void;
  /** No more timers. */
  stop(): void;
}

const MOST_SECONDS_BETWEEN = 60;
/** What a timer can wait for. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** `ttl` in seconds, or Infinity. */
export function upkeepOf(opened: OpenedSandbox, ttl: number, onIdle: () => void): Upkeep {
  let users = 0;
  let isStopped = false;
  let toldAt = Date.now();
  let idle: NodeJS.Timeout | undefined;
  let telling: NodeJS.Timeout | undefined;
  const between = Math.min(ttl / 3, MOST_SECONDS_BETWEEN) * 1000;
  const tell = (): void => {
    toldAt = Date.now();
    // Whether the place is there shows in what is done there.
    opened.keepAlive?.().catch(() => {});
  };
  const rest = (): void => {
    clearInterval(telling);
    telling = undefined;
    if (isStopped || !Number.isFinite(ttl)) return;
    idle = setTimeout(onIdle, Math.min(ttl * 1000, LONGEST_TIMER)).unref();
  };
  const upkeep: Upkeep = {
    begin: () => {
      users += 1;
      clearTimeout(idle);
      if (isStopped || opened.keepAlive === undefined) return;
      if (Date.now() - toldAt >= between) tell();
      telling ??= setInterval(tell, between).unref();
    },
    end: () => {
      users -= 1;
      if (users === 0) rest();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(idle);
      clearInterval(telling);
    },
  };
  rest();
  return upkeep;
}
