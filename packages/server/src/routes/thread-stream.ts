/** The events of a thread: one run after the other, in the order they were begun. */
import { type EventPlace, formatEventId, parseEventName, type ThreadStreamMode } from "@deepwright/protocol";
import { notFound } from "../http/problems.ts";
import type { StreamedEvent } from "../http/sse-response.ts";
import type { RunRecord } from "../records/records.ts";
import type { Services } from "./services.ts";

export interface ThreadReader {
  readonly owner: string;
  readonly threadId: string;
  readonly from: ThreadKey;
  readonly modes: readonly ThreadStreamMode[];
}

/** Where a reader begins. */
export interface ThreadKey {
  /** The sequence of the last run that is of no interest any more. */
  readonly behind: number;
  /** The number of the last event the reader has of the first run after it. */
  readonly after: number;
}

const LOOK_AGAIN_MS = 1_000;
/** A thread that is gone ends the stream: found out every so many looks. */
const LOOKS_UNTIL_GONE = 5;

/**
 * Behind the last event the reader has; without one, what goes on now is the first. A run that is gone is left out. NOT_FOUND
 * where that cannot be told: the id is of a run that is not there, and does not say which of the thread it was.
 */
export async function streamPosition(
  { runs, records }: Services,
  owner: string,
  threadId: string,
  { runId, sequence, runSequence }: EventPlace,
): Promise<ThreadKey> {
  const [newest] = await records.runs.heads(owner, threadId, { limit: 1, offset: 0 });
  if (runId === undefined) {
    const open = await records.runs.next(owner, threadId, 0, { open: true });
    return { behind: open ? open.sequence - 1 : (newest?.sequence ?? 0), after: 0 };
  }
  const known = await runs.get(owner, runId);
  if (known?.thread_id === threadId) return { behind: known.sequence - 1, after: sequence };
  if (known || runSequence === undefined) throw notFound("run");
  return { behind: runSequence, after: 0 };
}

/** Without an end: it waits for the next run until the reader leaves or the thread is gone. */
export async function* threadEvents(
  services: Services,
  { owner, threadId, from, modes }: ThreadReader,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  let { behind, after } = from;
  while (!signal.aborted) {
    const run = await nextRun(services, owner, threadId, behind, signal);
    if (run === undefined) return;
    const { run_id: runId, sequence: runSequence } = run;
    const events = services.runs.stream(owner, runId, { after, signal, inPieces: true });
    for await (const { sequence, event, data, pieces } of events)
      if (isWanted(event, modes))
        yield { id: formatEventId({ sequence, runId, runSequence }), event, data, pieces };
    behind = runSequence;
    after = 0;
  }
}

/** Waits for it. Undefined: the reader has left, or the thread is gone. */
export async function nextRun(
  { records, threadNews }: Services,
  owner: string,
  threadId: string,
  behind: number,
  signal: AbortSignal,
): Promise<RunRecord | undefined> {
  for (let looks = 1; !signal.aborted; looks += 1) {
    const next = await records.runs.next(owner, threadId, behind);
    if (next) return next;
    if (looks % LOOKS_UNTIL_GONE === 0 && !(await records.threads.head(owner, threadId))) return undefined;
    await threadNews.wait(threadId, LOOK_AGAIN_MS, signal);
  }
  return undefined;
}

const KINDS: Partial<Record<ThreadStreamMode, ReadonlySet<string>>> = {
  lifecycle: new Set(["metadata", "error", "end", "replaced"]),
  state_update: new Set(["values", "updates"]),
};

function isWanted(event: string, modes: readonly ThreadStreamMode[]): boolean {
  const { kind } = parseEventName(event);
  return modes.some((mode) => KINDS[mode]?.has(kind) ?? true);
}
