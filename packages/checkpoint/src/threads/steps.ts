/** The steps of a thread for people: time, author, message, changed files. */
import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import type { ThreadStorage } from "../storage/storage.ts";
import { COMMAND } from "./images.ts";
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
      const paths = before && state.source === "loop" ? elsewhere.get(before.row.id) : undefined;
      steps.push(paths ? { ...step, changedFiles: [...new Set([...step.changedFiles, ...paths])] } : step);
      before = state;
    }
  }
  return { steps, waiting: isWaiting(lineage) };
}

/** Paths by the checkpoint the step began with. */
async function changedElsewhere(storage: ThreadStorage, threadId: string): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const { checkpointId, place, path } of await storage.listImages(threadId)) {
    if (place.startsWith(COMMAND)) continue;
    const paths = found.get(checkpointId) ?? new Set();
    found.set(checkpointId, paths.add(path));
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
    summary: isFirst ? "" : summaryOf(reader, before, state),
  };
}

/** Summary of the first message that the state has beyond the one before it. */
function summaryOf(reader: StateReader, before: StoredState | undefined, state: StoredState): string {
  const messages = state.channels.get(MESSAGES);
  const known = listLength(reader, before?.channels.get(MESSAGES));
  if (!messages || listLength(reader, messages) <= known) return "";
  const message = listElement(reader, messages, known) as SummarisedMessage | undefined;
  return message ? wordsOf(message).replaceAll(/\s+/g, " ").trim().slice(0, SUMMARY_CHARACTERS) : "";
}

interface SummarisedMessage {
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
