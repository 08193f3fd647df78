/** Writes the events of a run in small batches, and holds the run back when storage cannot keep up. */
import type { EventRecords, NewEvent, RunClaim } from "../../records/records.ts";

export interface EventWriter {
  /** Resolves at once while there is room; otherwise when there is again. Rejects when the claim is lost. */
  write(event: NewEvent): Promise<void>;
  /** Everything so far is stored. */
  flush(): Promise<void>;
  /** Events not stored yet, for the transaction that ends the run; nothing is written afterwards. */
  take(): Promise<readonly NewEvent[]>;
}

/** Another worker has the run: this one must do nothing more. */
export class ClaimLost extends Error {
  constructor() {
    super("Another worker has taken the run over.");
    this.name = "ClaimLost";
  }
}

const BATCH_MS = 50;
const BATCH_EVENTS = 64;
/** Bytes that may wait to be stored; one event may be larger. */
const MOST_BYTES = 1_048_576;

export function createEventWriter(events: Pick<EventRecords, "append">, claim: RunClaim): EventWriter {
  let waiting: NewEvent[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> | undefined;
  let failure: unknown;
  let taken = false;
  let stored = Number.NEGATIVE_INFINITY;

  const isFull = () => waiting.length >= BATCH_EVENTS || bytes >= MOST_BYTES;
  const store = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    bytes = 0;
    if ((await events.append(claim, batch)) === undefined) throw new ClaimLost();
  };
  /** Stores one batch at a time, in the order of the calls. */
  const begin = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    storing ??= store()
      .catch((error) => {
        failure = error;
        throw error;
      })
      .finally(() => {
        storing = undefined;
        stored = performance.now();
        if (failure === undefined && waiting.length > 0 && !taken) schedule();
      });
    return storing;
  };
  const schedule = (): void => {
    // The first event after a pause is stored at once, so slow events are seen without delay.
    const pause = Math.max(0, BATCH_MS - (performance.now() - stored));
    timer ??= setTimeout(() => void begin().catch(() => undefined), pause);
  };
  const flush = async (): Promise<void> => {
    while (storing !== undefined || waiting.length > 0) await (storing ?? begin());
    if (failure !== undefined) throw failure;
  };

  return {
    flush,
    async write(event) {
      if (failure !== undefined) throw failure;
      waiting.push(event);
      bytes += event.data.length;
      if (!isFull()) schedule();
      else {
        if (storing) await storing;
        if (isFull()) await begin();
      }
    },
    async take() {
      taken = true;
      clearTimeout(timer);
      if (storing) await storing;
      if (failure !== undefined) throw failure;
      const rest = waiting;
      waiting = [];
      return rest;
    },
  };
}
