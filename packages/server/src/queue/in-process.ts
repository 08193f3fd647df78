/** The queue of one process: wake-ups are calls, and timers for what is not due yet. */
import type { Queue, WakeHandler } from "./queue.ts";

/** Timers of Node hold at most this many milliseconds; later ones are found by the scan. */
const LONGEST_TIMER_MS = 2_147_483_647;

export function createInProcessQueue(): Queue {
  const timers = new Map<string, { readonly due: number; readonly timer: NodeJS.Timeout }>();
  const heard = new Set<string>();
  let handler: WakeHandler | undefined;

  const offer = (threadId: string): void => {
    if (handler === undefined || heard.has(threadId)) return;
    heard.add(threadId);
    setImmediate(() => {
      heard.delete(threadId);
      // A worker that is full looks into the records when it has room again.
      void handler?.(threadId).catch(() => undefined);
    });
  };
  const later = (threadId: string, due: number): void => {
    if (handler === undefined) return;
    const known = timers.get(threadId);
    if (known && known.due <= due) return;
    clearTimeout(known?.timer);
    const delay = Math.min(due - Date.now(), LONGEST_TIMER_MS);
    const timer = setTimeout(() => {
      timers.delete(threadId);
      offer(threadId);
    }, delay);
    timer.unref();
    timers.set(threadId, { due, timer });
  };

  const stop = async (): Promise<void> => {
    handler = undefined;
    for (const { timer } of timers.values()) clearTimeout(timer);
    timers.clear();
  };

  return {
    stop,
    close: stop,
    async wake(threadId, notBefore) {
      if (notBefore === undefined || notBefore <= Date.now()) offer(threadId);
      else later(threadId, notBefore);
    },
    async start(given) {
      handler = given;
    },
  };
}
