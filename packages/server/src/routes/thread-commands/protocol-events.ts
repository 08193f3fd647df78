/** The events of a thread in the thread-centric protocol: translated from the log each time they are read. */
import type { ThreadEvents } from "@deepwright/protocol";
import type { StreamedEvent } from "../../http/sse-response.ts";
import type { RunRecord } from "../../records/records.ts";
import { isWanted, runSequenceOf, seqOf } from "../../runs/wire/thread-events/thread-event.ts";
import { RunTranslator } from "../../runs/wire/thread-events/translate-run.ts";
import type { Services } from "../services.ts";
import { nextRun, streamPosition } from "../thread-stream.ts";

export interface ProtocolReader {
  readonly owner: string;
  readonly threadId: string;
  readonly wanted: ThreadEvents;
}

/** Waits for the next run until the reader leaves or the thread is gone. */
export async function* protocolEvents(
  services: Services,
  { owner, threadId, wanted }: ProtocolReader,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const since = wanted.since ?? -1;
  let behind = await firstRun(services, owner, threadId, wanted.since);
  while (!signal.aborted) {
    const run = await nextRun(services, owner, threadId, behind, signal);
    if (run === undefined) return;
    for await (const event of eventsOf(services, run, wanted, signal))
      if (Number(event.id) > since) yield event;
    behind = run.sequence;
  }
}

/** Without a place: the runs that go on, or else the newest, so that a reader sees how it came to rest. */
async function firstRun(
  services: Services,
  owner: string,
  threadId: string,
  since: number | null | undefined,
): Promise<number> {
  if (since != null) return runSequenceOf(since) - 1;
  const [newest] = await services.records.runs.heads(owner, threadId, { limit: 1, offset: 0 });
  const { behind } = await streamPosition(services, owner, threadId, { sequence: 0 });
  return newest ? Math.min(behind, newest.sequence - 1) : behind;
}

async function* eventsOf(
  { runs, agents }: Services,
  { run_id: runId, sequence: runSequence, owner, assistant_id: assistantId }: RunRecord,
  wanted: ThreadEvents,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const translator = new RunTranslator(agents.assistant(assistantId)?.graph_id ?? assistantId);
  for await (const stored of runs.stream(owner, runId, { signal })) {
    let part = 0;
    for (const found of translator.translate(stored)) {
      const seq = seqOf({ runSequence, sequence: stored.sequence, part });
      part += 1;
      if (!isWanted(found, wanted)) continue;
      const { method, namespace, data, node } = found;
      const params = { namespace, timestamp: Date.now(), ...(node !== undefined && { node }), data };
      const event = { type: "event", event_id: String(seq), seq, method, params };
      yield { id: String(seq), event: method, data: JSON.stringify(event) };
    }
  }
}
