/**
 * The record of messages that were removed from a conversation: Markdown files that only grow.
 *
 * Each section begins with a mark that names its first and last message, so that a section written before a crash is
 * not written again.
 */
import type { BaseMessage } from "@langchain/core/messages";
import { isGraphBubbleUp } from "@langchain/langgraph";
import type { BackendProtocol, OperationOptions, WriteResult } from "../../backends/backend.ts";
import { type BackendSource, resolveBackend } from "../../backends/resolve.ts";
import { graphNamespace, type TaskConfig } from "../../engine/engine.ts";
import type { StageTask } from "../../loop/contract/stages.ts";
import type { Messages } from "../../loop/messages/messages.ts";
import { areaPath, asHarness, prepareAreas, safeName } from "../areas.ts";
import { writeFilesUpdate } from "../write-files-update.ts";
import { messageText } from "./transcript.ts";

export interface HistoryRequest {
  /** Absent: the state of the thread. */
  readonly backend: BackendSource | undefined;
  readonly task: StageTask;
  /** The directory; absent: the area of the harness. */
  readonly directory: string | undefined;
  /** Without the ending. */
  readonly name: string;
  readonly messages: Messages;
  /** All messages of the branch of the thread that they are of. */
  readonly thread: Messages;
  /** How many numbered files there are, where one cannot be appended to. */
  readonly parts: number;
}

export interface History {
  /** Where the record is; absent when it could not be written. */
  readonly path?: string;
  readonly parts: number;
}

/** Each thread has files of its own, and so has each child of a thread. */
export function historyName(config: TaskConfig, session: string): string {
  const thread = config.configurable?.thread_id;
  const name = safeName(thread == null ? `session_${session}` : String(thread));
  const namespace = graphNamespace(config);
  return namespace === "" ? name : `${name}-${safeName(namespace)}`;
}

/** Throws only when the run was stopped. */
export async function appendHistory(request: HistoryRequest): Promise<History> {
  const { task, parts } = request;
  try {
    const backend = await resolveBackend(request.backend, task.runtime);
    const options = asHarness({ signal: task.signal });
    if (request.directory === undefined)
      await prepareAreas(backend, request.backend ?? backend, { signal: task.signal });
    if (typeof backend.append === "function") {
      const path = `${historyPath(backend, request)}.md`;
      const isWritten = await appendSection(backend, path, request, options);
      if (isWritten) return { path, parts };
    }
    return await writePart(backend, request, options);
  } catch (error) {
    if (task.signal?.aborted || (error !== null && isGraphBubbleUp(error))) throw error;
    return { parts };
  }
}

function historyPath(backend: BackendProtocol, { directory, name }: HistoryRequest): string {
  if (directory === undefined) return areaPath(backend, "conversation_history", name);
  return `${directory.endsWith("/") ? directory.slice(0, -1) : directory}/${name}`;
}

async function appendSection(
  backend: BackendProtocol,
  path: string,
  { messages, thread, task }: HistoryRequest,
  options: OperationOptions,
): Promise<boolean> {
  const rest = await unwritten(backend, path, messages, thread, options);
  if (rest.length === 0) return true;
  const written = await backend.append?.(path, sectionOf(rest), options);
  return written !== undefined && isStored(written, task);
}

const MOST_PARTS = 50;

async function writePart(
  backend: BackendProtocol,
  request: HistoryRequest,
  options: OperationOptions,
): Promise<History> {
  const { messages, thread, parts, task } = request;
  for (let number = parts + 1; number <= parts + MOST_PARTS; number += 1) {
    const path = `${historyPath(backend, request)}.part-${String(number).padStart(4, "0")}.md`;
    const written = await backend.write(path, sectionOf(messages), options);
    if (isStored(written, task)) return { path: allParts(path, number), parts: number };
    if (written.error !== undefined && written.code !== "FILE_EXISTS") break;
    // From a task that was not finished, or from another branch of the thread.
    const rest = await unwritten(backend, path, messages, thread, options);
    if (rest.length === 0) return { path: allParts(path, number), parts: number };
  }
  return { parts };
}

/** The files of the record. `path` is the last of them. */
function allParts(path: string, count: number): string {
  return count === 1 ? path : path.replace(/\d+\.md$/, "*.md");
}

/** Backends of the older form store nothing themselves. */
function isStored(written: WriteResult, task: StageTask): boolean {
  if (written.error !== undefined) return false;
  writeFilesUpdate(task, written.filesUpdate);
  return true;
}

const MARK = "<!-- archived ";

/** Messages that are not in the file yet. */
async function unwritten(
  backend: BackendProtocol,
  path: string,
  messages: Messages,
  thread: Messages,
  options: OperationOptions,
): Promise<Messages> {
  const first = messages[0];
  if (first === undefined) return [];
  const { matches = [] } = await backend.grep(`${MARK}${idOf(first)}..`, path, null, null, options);
  const ends = new Set(
    matches.map(({ text }) => text.slice(text.indexOf("..") + 2).split(" ", 1)[0] as string),
  );
  const written = messages.findLastIndex((message) => ends.has(idOf(message)));
  if (written >= 0) return messages.slice(written + 1);
  // A longer section of this branch has all of them; one of another branch has others.
  return thread.some((message) => ends.has(idOf(message))) ? [] : messages;
}

/** The section of a file that holds these messages. */
export function sectionOf(messages: Messages): string {
  const [first, last] = [messages[0] as BaseMessage, messages.at(-1) as BaseMessage];
  const mark = `${MARK}${idOf(first)}..${idOf(last)} -->`;
  // Text of a message must not look like a mark.
  const texts = messages.map((message) => messageText(message).replaceAll(MARK, "<!- archived "));
  return `${mark}\n\n${texts.join("\n\n")}\n\n`;
}

function idOf(message: BaseMessage): string {
  return encodeURIComponent(message.id ?? "").replaceAll(".", "%2E");
}
