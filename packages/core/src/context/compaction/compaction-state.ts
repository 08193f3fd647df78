/**
 * The model's view of a compacted thread.
 *
 * The thread itself keeps every message. The summary of the removed part, and the start of the rest, are stored beside
 * it by ids of messages, so that forks, edits and time travel find the right ones.
 */
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { COMPACTION } from "../../backends/harness-areas.ts";
import type { RequestView, StageTask } from "../../loop/contract/stages.ts";
import { type Messages, positionOfId } from "../../loop/messages/messages.ts";
import { ownValue } from "../../text/own-value.ts";
import type { KeptRequest } from "./compaction-request.ts";
import { type ArgumentLimit, type Clip, clipMessage, shortenArguments } from "./shorten.ts";
import { SUMMARY_SOURCE } from "./summarize.ts";

/** The private key of the state. */
export { COMPACTION };

export interface Compaction {
  /** How often messages were removed from view. */
  readonly count: number;
  /** The first message that the model sees; absent: it sees all. */
  readonly first?: string;
  /** The last message that was removed from view. */
  readonly archivedTo?: string;
  /** The whole text of the message in place of the removed part. */
  readonly summary?: string;
  /** The part of it that a model wrote. */
  readonly notes?: string;
  /** The newest request of a person, if it is no longer in view. */
  readonly request?: KeptRequest;
  /** Arguments of calls are shortened up to this message. */
  readonly shortenedThrough?: string;
  readonly clips?: Readonly<Record<string, Clip>>;
  readonly historyPath?: string;
  readonly historyParts?: number;
  /** Names the record of a thread that has no id. */
  readonly session?: string;
  /**
   * The first message of the thread at the time of the compaction. If it is removed, the summarised part is gone too.
   */
  readonly origin?: string;
  /** The last message of the thread when this was decided. */
  readonly after?: string;
  /** How often the provider refused a request that ended with `after`. */
  readonly overflows?: number;
}

const NOTHING: Compaction = { count: 0 };

export function compactionIn(task: Pick<StageTask, "read">): Compaction {
  const value = task.read(COMPACTION);
  return typeof value === "object" && value !== null ? { ...NOTHING, ...value } : NOTHING;
}

/** A request as it would be sent. */
export interface Sight {
  /** Position of the first visible message in the repaired thread. */
  readonly start: number;
  /** Stands for the removed part; absent when the model sees all. */
  readonly summary: HumanMessage | undefined;
  /** The rest, rendered and shortened. */
  readonly tail: Messages;
}

/** Where neither the first message nor the one before it is left, there is no place to begin: all is seen. */
export function sightOf(view: RequestView, state: Compaction, limit: ArgumentLimit): Sight {
  const start = startOf(view.valid, state);
  const messages = start === 0 ? view.valid : view.valid.slice(start);
  const summary = start > 0 || isOnlySummary(view, state) ? summaryMessage(state) : undefined;
  return { start, summary, tail: presented(view.render(messages), view.valid, state, limit, start) };
}

export function messagesOf({ summary, tail }: Sight): Messages {
  return summary === undefined ? tail : [summary, ...tail];
}

function startOf(messages: Messages, { first, archivedTo, summary }: Compaction): number {
  if (summary === undefined) return 0;
  let start = first === undefined ? -1 : positionOfId(messages, first);
  if (start < 0 && archivedTo !== undefined) start = positionOfId(messages, archivedTo) + 1;
  if (start <= 0) return 0;
  while (ToolMessage.isInstance(messages[start])) start += 1;
  return start;
}

/** The removed messages were deleted from the thread, others are there: the summary still tells of them. */
function isOnlySummary(view: RequestView, { summary, first, after, origin }: Compaction): boolean {
  if (summary === undefined || first === undefined) return false;
  if (view.valid[0]?.id === first) return true;
  const isThere = (id: string | undefined): boolean => id !== undefined && positionOfId(view.valid, id) >= 0;
  return !isThere(first) && !isThere(origin) && isThere(after);
}

const knownSummaries = new Map<string, WeakRef<HumanMessage>>();

/** The same object while it is in use, and always the same bytes. */
function summaryMessage({ summary = "", count, first }: Compaction): HumanMessage {
  const id = `summary-${count}-${first ?? ""}`;
  const known = knownSummaries.get(id)?.deref();
  if (known?.content === summary) return known;
  const message = new HumanMessage({
    id,
    content: summary,
    additional_kwargs: { lc_source: SUMMARY_SOURCE },
  });
  if (knownSummaries.size > 500) knownSummaries.clear();
  knownSummaries.set(id, new WeakRef(message));
  return message;
}

/** Messages before `shortenedThrough` lose their long arguments; clips are applied as decided. */
function presented(
  messages: Messages,
  thread: Messages,
  { shortenedThrough, clips }: Compaction,
  limit: ArgumentLimit,
  start: number,
): Messages {
  const isShort = shortenedThrough !== undefined && positionOfId(thread, shortenedThrough) >= start;
  if (!isShort && clips === undefined) return messages;
  let within = isShort;
  return messages.map((message) => {
    const short = within ? shortenArguments(message, limit) : message;
    if (message.id === shortenedThrough) within = false;
    const clip = clips && ownValue(clips, message.id ?? "");
    return clip === undefined ? short : clipMessage(short, clip);
  });
}

/** Ids of messages that are no longer seen are forgotten. */
export function clipsAmong(
  clips: Readonly<Record<string, Clip>>,
  messages: readonly BaseMessage[],
): Record<string, Clip> | undefined {
  const seen = messages.flatMap(({ id = "" }) => {
    const clip = ownValue(clips, id);
    return clip ? [[id, clip] as const] : [];
  });
  return seen.length === 0 ? undefined : Object.fromEntries(seen);
}
