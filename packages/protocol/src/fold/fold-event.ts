/** Events of runs to what a screen shows: pure, and the same event twice changes nothing. */
import { parseEventId } from "../events/event-id.ts";
import { parseEventName } from "../events/event-name.ts";
import type { Thread, ThreadStatus } from "../threads.ts";
import { beginRun, endRun, failRun, replaceRun } from "./fold-run.ts";
import {
  foldMessages,
  foldUpdates,
  foldValues,
  foldWholeMessages,
  noteMessageNamespaces,
} from "./fold-state.ts";
import { foldCustom, foldTask, foldToolEvent } from "./fold-work.ts";
import { string } from "./read-message.ts";
import { emptyScreen, type Screen } from "./screen.ts";
import { isRecord, own, withField } from "./share.ts";

/** An event as `client.runs.stream` gives it. Without an id, pieces of messages must not come twice. */
export interface FoldedEvent {
  readonly id?: string;
  /** The run it belongs to. Absent: the one the last `metadata` named. */
  readonly runId?: string;
  /** Kind and namespace, as it came. */
  readonly event: string;
  readonly data: unknown;
}

/** The screen after the event; the same object when the event changes nothing. Data of any shape are read, never thrown at. */
export function foldEvent(screen: Screen, event: FoldedEvent): Screen {
  const seen = noteSeen(screen, event);
  if (!seen) return screen;
  const { kind, namespace } = parseEventName(event.event);
  const place = namespace.join("|");
  const { data } = event;
  switch (kind) {
    case "metadata":
      return beginRun(seen, data);
    case "values":
      return foldValues(seen, place, data);
    case "updates":
      return foldUpdates(seen, place, data);
    case "messages":
      return foldMessages(seen, place, data);
    case "messages/metadata":
      return noteMessageNamespaces(seen, data);
    case "messages/partial":
      return foldWholeMessages(seen, place, data, true);
    case "messages/complete":
      return foldWholeMessages(seen, place, data, false);
    case "custom":
      return foldCustom(seen, place, data);
    case "tools":
      return foldToolEvent(seen, place, data);
    case "tasks":
      return foldTask(seen, place, data);
    case "steer":
    case "follow-up":
      return isRecord(data) ? foldWholeMessages(seen, "", [data.message], false) : seen;
    case "replaced":
      return replaceRun(seen, data);
    case "error":
      return failRun(seen, data);
    case "end":
      return endRun(seen, data);
    default:
      return seen;
  }
}

export function foldEvents(screen: Screen, events: Iterable<FoldedEvent>): Screen {
  let next = screen;
  for (const event of events) next = foldEvent(next, event);
  return next;
}

/**
 * The screen of a thread as a listing has it, before any event: what it says, and what waits in it. The events of a
 * run that goes on may be folded on it from the first.
 */
export function screenOfThread(thread: ThreadToShow): Screen {
  const { thread_id: threadId, status = "idle", values, interrupts = {} } = thread;
  const waiting = Object.values(interrupts).flat();
  const shown = foldValues(emptyScreen, "", {
    ...values,
    ...(waiting.length > 0 ? { __interrupt__: waiting } : {}),
  });
  const settled = status === "busy" ? shown : endRun(shown, { status: ENDED[status] });
  const run = status === "busy" ? "running" : status === "idle" ? "idle" : ENDED[status];
  return { ...settled, run: { ...(threadId === undefined ? {} : { threadId }), status: run } };
}

/** A `Thread`, or as much of one as is known. */
export interface ThreadToShow {
  readonly thread_id?: string;
  readonly status?: ThreadStatus;
  readonly values?: Thread["values"];
  readonly interrupts?: Thread["interrupts"];
}

const ENDED = { idle: "success", interrupted: "interrupted", error: "error" } as const;

/** Undefined: the event was seen before. */
function noteSeen(screen: Screen, { id, runId, event, data }: FoldedEvent): Screen | undefined {
  const place = id === undefined ? undefined : parseEventId(id);
  if (!place) return screen;
  const named = event === "metadata" && isRecord(data) ? string(data.run_id) : undefined;
  const run = runId ?? place.runId ?? named ?? screen.run.id ?? "";
  const last = own(screen.notes.seen, run);
  if (last !== undefined && place.sequence <= last) return undefined;
  return { ...screen, notes: { ...screen.notes, seen: withField(screen.notes.seen, run, place.sequence) } };
}
