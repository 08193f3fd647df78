/** The log of a run as one reader follows it: from where it was, to the end. */
import type { EventRecords, RunEvent, SkimmedEvent } from "../records/records.ts";

const PAGE = 128;
/** Milliseconds between looks without a notification, because notifications may be lost. */
const LOOK_AGAIN_MS = 5_000;

/** A short page of less than this is all there was; one of large events may be cut. */
const SMALL_PAGE = 1024 * 1024;

function mayGoOn(page: readonly SkimmedEvent[]): boolean {
  return (
    page.length === PAGE || page.reduce((size, { data, bytes = data.length }) => size + bytes, 0) > SMALL_PAGE
  );
}

/** An event for a reader that takes large events piece by piece. */
export interface FollowedEvent extends RunEvent {
  /** Data of a large event, whose `data` are empty: a few megabytes at a time. */
  readonly pieces?: () => AsyncIterable<string>;
}

/** Characters at a time: at most four times as many bytes. */
const PIECE = 1024 * 1024;

async function* piecesOf(
  events: Pick<EventRecords, "piece">,
  runId: string,
  { sequence, bytes = 0 }: SkimmedEvent,
): AsyncGenerator<string> {
  let left = bytes;
  for (let from = 0; left > 0; from += PIECE) {
    const piece = await events.piece(runId, sequence, from, PIECE);
    // It was swept meanwhile.
    if (piece === "") throw new Error("The rest of the event is gone.");
    left -= Buffer.byteLength(piece);
    yield piece;
  }
}

export interface FollowOptions {
  /** The number of the last event the reader has; 0 for none. */
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
  /** Large events come in pieces, so that a slow reader does not hold them in memory. Default false. */
  readonly inPieces?: boolean | undefined;
  /** Whether there will be no more events: the run has ended, or is gone. */
  readonly isOver: () => Promise<boolean>;
}

/** Ends behind the event `end`, when the run is gone, or when the signal fires. */
export async function* followEvents(
  events: Pick<EventRecords, "read" | "skim" | "piece" | "watch">,
  runId: string,
  { after, signal, inPieces = false, isOver }: FollowOptions,
): AsyncGenerator<FollowedEvent> {
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
      const page = await (inPieces ? events.skim(runId, last, PAGE) : events.read(runId, last, PAGE));
      for (const event of page as readonly SkimmedEvent[]) {
        if (signal?.aborted) return;
        yield event.bytes === undefined ? event : { ...event, pieces: () => piecesOf(events, runId, event) };
        last = event.sequence;
        if (event.event === "end") return;
      }
      if (page.length === 0) {
        if (over) return;
        over = await isOver();
      }
      // Events from before the end of the run are read first.
      if (over || changed || signal?.aborted || mayGoOn(page)) continue;
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
