/** The queue of one process: wake-ups are calls, with timers for later ones. */
import { after } from "deepwright/duration";
import type { Queue, WakeHandler } from "./queue.ts";

export function createInProcessQueue(): Queue {
  const timers = new Map<string, { readonly due: number; readonly stopTimer: () => void }>();
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
    known?.stopTimer();
    const act = (): void => {
      timers.delete(threadId);
      offer(threadId);
    };
    timers.set(threadId, { due, stopTimer: after(due - Date.now(), act, { ref: false }) });
  };

  const stop = async (): Promise<void> => {
    handler = undefined;
    for (const { stopTimer } of timers.values()) stopTimer();
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
