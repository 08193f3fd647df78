/** The steps of a thread for people: time, author, message, changed files. */
import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import { placeAndAuthor } from "../saver/file-image.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { NOTES, pathsInSet, TREE } from "./images.ts";
import { type Lineage, lineageOf } from "./lineage.ts";
import { changedFiles, FILES } from "./stored-files.ts";
import { listElement, listLength } from "./stored-list.ts";
import { StateReader, type StoredState } from "./stored-state.ts";
import type { ThreadStep } from "./threads.ts";

const PAGE = 50;
const MESSAGES = "messages";
const SUMMARY_CHARACTERS = 100;

export interface ThreadSteps {
  readonly steps: readonly ThreadStep[];
  readonly waiting: boolean;
}

/** Long contents are let go page by page: memory grows with the number of steps, not with what they hold. */
export async function stepsOf(storage: ThreadStorage, threadId: string): Promise<ThreadSteps> {
  const reader = new StateReader(storage, false);
  const elsewhere = await changedElsewhere(storage, threadId);
  const lineage = await lineageOf(storage, reader, threadId);
  const steps: ThreadStep[] = [];
  let before: StoredState | undefined;
  for (let start = 0; start < lineage.states.length; start += PAGE) {
    const page = lineage.states.slice(start, start + PAGE);
    await reader.loadChannels(page, [MESSAGES, FILES]);
    for (const state of page) {
      const step = stepOf(reader, before, state);
      const begun = before && state.source === "loop" ? elsewhere.get(before.row.id) : undefined;
      const changedFiles = [...new Set([...step.changedFiles, ...(begun?.paths ?? [])])];
      steps.push(begun ? { ...step, changedFiles, calls: [...begun.calls] } : step);
      before = state;
    }
  }
  return { steps, waiting: isWaiting(lineage) };
}

interface ChangesElsewhere {
  readonly paths: Set<string>;
  readonly calls: Set<string>;
}

/** By the checkpoint the step began with. */
async function changedElsewhere(
  storage: ThreadStorage,
  threadId: string,
): Promise<Map<string, ChangesElsewhere>> {
  const found = new Map<string, ChangesElsewhere>();
  for (const { checkpointId, place: stored, path } of await storage.listImages(threadId)) {
    const { place, by } = placeAndAuthor(stored);
    if (by?.kind !== undefined || NOTES.some((prefix) => place.startsWith(prefix))) continue;
    const { paths, calls } = found.get(checkpointId) ?? { paths: new Set(), calls: new Set() };
    found.set(checkpointId, { paths, calls });
    for (const one of place.startsWith(TREE) ? pathsInSet(path) : [path]) paths.add(one);
    if (by?.call !== undefined) calls.add(by.call);
  }
  return found;
}

function stepOf(reader: StateReader, before: StoredState | undefined, state: StoredState): ThreadStep {
  const isFirst = before === undefined && state.row.parent !== undefined;
  const changes = isFirst ? [] : changedFiles(reader, before, state);
  return {
    step: state.step,
    checkpointId: state.row.id,
    at: state.at,
    source: state.source,
    messageCount: listLength(reader, state.channels.get(MESSAGES)),
    changedFiles: changes.map(({ path }) => path),
    calls: [],
    ...(isFirst ? { summary: "" } : firstMessage(reader, before, state)),
  };
}

/** The first message that the state has beyond the one before it. */
function firstMessage(
  reader: StateReader,
  before: StoredState | undefined,
  state: StoredState,
): Pick<ThreadStep, "summary" | "messageId"> {
  const messages = state.channels.get(MESSAGES);
  const known = listLength(reader, before?.channels.get(MESSAGES));
  if (!messages || listLength(reader, messages) <= known) return { summary: "" };
  const message = listElement(reader, messages, known) as SummarisedMessage | undefined;
  if (!message) return { summary: "" };
  const summary = wordsOf(message).replaceAll(/\s+/g, " ").trim().slice(0, SUMMARY_CHARACTERS);
  return { summary, ...(typeof message.id === "string" && { messageId: message.id }) };
}

interface SummarisedMessage {
  readonly id?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly name?: unknown }[];
}

function wordsOf({ content, tool_calls: calls }: SummarisedMessage): string {
  const text = textOf(content);
  if (text.trim() !== "" || !Array.isArray(calls) || calls.length === 0) return text;
  return `calls ${calls.map(({ name }) => String(name)).join(", ")}`;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => (typeof block?.text === "string" ? block.text : "")).join(" ");
}

function isWaiting({ writes }: Lineage): boolean {
  return writes.some(({ entries }) => entries.some(({ channel }) => channel === INTERRUPT));
}
