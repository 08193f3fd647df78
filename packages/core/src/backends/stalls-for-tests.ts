/** Tests only: how long the event loop was held up by the work of this process itself. */

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
