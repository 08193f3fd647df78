/** Puts threads beside each other: answers, changes of files, usage and checks. */
import { undoTreeName } from "deepwright/internal";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { searchEnd } from "../file-changes.ts";
import { DISK, listImages, type StoredImage } from "../images.ts";
import { lineageOf } from "../lineage.ts";
import { goneOnFrom } from "../rewind.ts";
import { StateReader } from "../stored-state.ts";
import type { FileChange } from "../threads.ts";
import { entryChange } from "../undo/entry-change.ts";
import { notCoveredBy } from "../undo/not-covered.ts";
import { isOfAgent } from "../undo/plan.ts";
import { timelines } from "../undo/timeline.ts";
import { forkNote } from "./fork-note.ts";
import type { ComparedThread, ForkReport } from "./fork-types.ts";

export async function compare(
  saver: SharedSaver,
  threadIds: readonly string[],
  options: { readonly root?: string | undefined },
): Promise<readonly ComparedThread[]> {
  const root = options.root === undefined ? undefined : undoTreeName(options.root).slice(DISK.length);
  const compared: ComparedThread[] = [];
  for (const threadId of threadIds) compared.push(await comparedThread(saver, threadId, root));
  return compared;
}

async function comparedThread(
  saver: SharedSaver,
  threadId: string,
  root: string | undefined,
): Promise<ComparedThread> {
  const reader = new StateReader(saver.storage, false);
  const { states } = await lineageOf(saver.storage, reader, threadId);
  const done = goneOnFrom(states);
  const images = await listImages(saver, threadId);
  const note = await forkNote(images);
  const directory = note?.copy ?? root;
  const own = images.filter(({ place }) => directory !== undefined && place.endsWith(`:${directory}`));
  const messages = await messagesOf(saver, threadId);
  const facts = await saver.storage.thread(threadId);
  return {
    threadId,
    ...(facts?.model === undefined ? {} : { model: facts.model }),
    ...usageOf(messages),
    ...note?.report,
    ...(note && { forkOf: note.root }),
    answer: answerOf(messages),
    changes: (await changesIn(own, done)).map((change) =>
      note ? { ...change, place: DISK + note.root } : change,
    ),
    notCovered: await notCoveredBy({
      images: own,
      isTouched: ({ checkpointId }) => done.has(checkpointId),
      changedSince: async () => undefined,
    }),
  };
}

async function changesIn(images: readonly StoredImage[], done: ReadonlySet<string>): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  const until = searchEnd();
  for (const { place, path, links } of timelines(images)) {
    const own = links.filter((link) => isOfAgent(link) && done.has(link.checkpointId));
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) continue;
    const sides = { before: await first.before(), after: await last.after() };
    const change = await entryChange({ place, path, ...sides }, until);
    if (change) changes.push(change);
  }
  return changes;
}

interface Message {
  readonly type: string;
  readonly content: unknown;
  readonly usage_metadata?: { readonly input_tokens?: number; readonly output_tokens?: number };
}

async function messagesOf(saver: SharedSaver, threadId: string): Promise<readonly Message[]> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: "" } });
  const messages: unknown = tuple?.checkpoint.channel_values.messages;
  return Array.isArray(messages) ? (messages as Message[]) : [];
}

function answerOf(messages: readonly Message[]): string {
  const texts = messages.filter(({ type }) => type === "ai").map(({ content }) => textOf(content).trim());
  return texts.findLast((text) => text !== "") ?? "";
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => (typeof block?.text === "string" ? block.text : "")).join("");
}

/** Usage of the thread's own model calls, without its subagents. */
function usageOf(messages: readonly Message[]): Pick<ForkReport, "inputTokens" | "outputTokens"> {
  const used = messages.flatMap(({ usage_metadata: usage }) => (usage ? [usage] : []));
  if (used.length === 0) return {};
  return {
    inputTokens: used.reduce((sum, { input_tokens = 0 }) => sum + input_tokens, 0),
    outputTokens: used.reduce((sum, { output_tokens = 0 }) => sum + output_tokens, 0),
  };
}
