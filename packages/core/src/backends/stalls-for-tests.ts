/** Tests only: how long the event loop was held up by the work of this process itself. */
import { LIMITS } from "../../../../scripts/test-limits.ts";

export interface Stalls {
  /** Milliseconds of the longest stall so far. */
  longest(): number;
  stop(): void;
}

/**
 * A stall counts as CPU time where that is shorter than wall time: a busy machine makes the event loop wait too.
 * `onTick` is called in every turn that is measured.
 */
export function watchStalls(onTick: () => void = () => undefined): Stalls {
  let longest = 0;
  let last = clocks();
  const timer = setInterval(() => {
    const now = clocks();
    longest = Math.max(longest, Math.min(now.wall - last.wall, now.working - last.working));
    last = now;
    onTick();
  }, 5);
  return { longest: () => longest, stop: () => clearInterval(timer) };
}

function clocks(): { readonly wall: number; readonly working: number } {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), working: (user + system) / 1000 };
}

const ATTEMPTS = 4;

/**
 * Runs `work` and throws when it stalled longer than the limit of `test-limits.ts`. It runs again before that, since the
 * CPU time of other threads, such as the collector of garbage, counts too.
 */
export async function withoutStalls<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const limit = LIMITS["one turn of the event loop"];
  const stalled: number[] = [];
  for (;;) {
    const stalls = watchStalls();
    const result = await work();
    // The timer must see the end of the work.
    await new Promise((resolve) => setTimeout(resolve, 10));
    stalls.stop();
    if (stalls.longest() <= limit) return result;
    stalled.push(Math.round(stalls.longest()));
    if (stalled.length === ATTEMPTS)
      throw new Error(
        `${what} stalled the event loop for ${stalled.join(", ")} ms; the limit is ${limit} ms.`,
      );
  }
}
