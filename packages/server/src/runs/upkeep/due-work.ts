/** Work that is due at some time and kept in records, so that any process that lives does it. */
import { AsyncResource } from "node:async_hooks";

export interface DueWorkParts<Item> {
  /** Work that is due now; each piece belongs to this process for a while. */
  readonly take: (limit: number) => Promise<readonly Item[]>;
  /** Returns after how many milliseconds it is due again; undefined: this process need not see to it. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<number | undefined>;
  readonly onError: (error: unknown) => void;
}

export interface DueWork {
  /** Starts the due work in the background. */
  kick(): void;
  /** Leaves work under way to another process. Safe twice. */
  close(): Promise<void>;
}

const AT_ONCE = 20;
/** Work that is due later is found by the next search. */
const LONGEST_TIMER_MS = 30_000;

export function createDueWork<Item>({ take, work, onError }: DueWorkParts<Item>): DueWork {
  // It is no part of the run that made it known.
  const scope = new AsyncResource("deepwright.due-work");
  const closing = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  let working: Promise<void> | undefined;
  let isDue = false;

  const later = (inMs: number): void => {
    if (closing.signal.aborted || inMs > LONGEST_TIMER_MS) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      kick();
    }, inMs).unref();
    timers.add(timer);
  };
  const one = async (item: Item): Promise<void> => {
    const inMs = await work(item, closing.signal);
    if (inMs !== undefined) later(inMs);
  };
  const round = async (): Promise<void> => {
    do {
      isDue = false;
      const due = await take(AT_ONCE);
      await Promise.all(due.map((item) => one(item).catch(onError)));
      if (due.length === AT_ONCE) isDue = true;
    } while (isDue && !closing.signal.aborted);
  };
  const kick = (): void => {
    isDue = true;
    if (closing.signal.aborted) return;
    working ??= scope
      .runInAsyncScope(round)
      .catch(onError)
      .finally(() => {
        working = undefined;
      });
  };
  return {
    kick,
    async close() {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      await working;
    },
  };
}

/** Longer and longer, from the first to the most. */
export function pauseAfter(times: number, [first, most]: readonly [number, number]): number {
  return Math.min(first * 1.5 ** Math.min(Math.max(times - 1, 0), 50), most);
}
