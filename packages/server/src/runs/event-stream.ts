/** The log of a run as one reader follows it: from where it was, to the end. */
import type { EventRecords, RunEvent } from "../records/records.ts";

const PAGE = 128;
/** Watching is a hint; whatever it missed is found this often. */
const LOOK_AGAIN_MS = 5_000;

export interface FollowOptions {
  /** The number of the last event the reader has; 0 for none. */
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether there will be no more events: the run has ended, or is gone. */
  readonly isOver: () => Promise<boolean>;
}

/** Ends behind the event `end`, when the run is gone, or when the signal fires. */
export async function* followEvents(
  events: Pick<EventRecords, "read" | "watch">,
  runId: string,
  { after, signal, isOver }: FollowOptions,
): AsyncGenerator<RunEvent> {
  let wake: () => void = () => {};
  let changed = false;
  const stop = events.watch(runId, () => {
    changed = true;
    wake();
  });
  const onAbort = () => wake();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for (let last = after, over = false; !signal?.aborted; ) {
      changed = false;
      const page = await events.read(runId, last, PAGE);
      for (const event of page) {
        if (signal?.aborted) return;
        yield event;
        last = event.sequence;
        if (event.event === "end") return;
      }
      // A short page may be one of large events.
      if (page.length > 0) continue;
      if (over) return;
      over = await isOver();
      // What was written before the run ended is read first.
      if (over || changed || signal?.aborted) continue;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, LOOK_AGAIN_MS);
        wake = () => {
          clearTimeout(timer);
          done();
        };
        if (changed) wake();
      });
    }
  } finally {
    stop();
    signal?.removeEventListener("abort", onAbort);
  }
}
