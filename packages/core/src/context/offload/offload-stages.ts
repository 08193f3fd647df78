/**
 * Moves long parts of a conversation to files: results of tools, arguments of calls, messages of people.
 *
 * A result is replaced in the thread. Messages of people and of the model stay in the thread, with a mark that makes
 * requests contain a preview instead: the same preview in every request and every process.
 */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  type ToolCall,
  type ToolMessage,
} from "@langchain/core/messages";
import type { BackendSource } from "../../backends/resolve.ts";
import type { Outgoing, Stages, StageTask } from "../../loop/contract/stages.ts";
import { textHash } from "../../text/text-hash.ts";
import { copyMessage, marksOf, withMarks } from "../message-copy.ts";
import { saveText } from "../save-text.ts";
import { textOf, withText } from "./message-text.ts";
import {
  type ArgumentMark,
  type LongArgument,
  longArguments,
  shortenArguments,
} from "./offload-arguments.ts";
import { exceeds, type OffloadLimits } from "./offload-limits.ts";
import { cutWords, lostWords, offloadedWords, type ShownText } from "./offload-words.ts";

export interface OffloadOptions {
  readonly backend: BackendSource;
  readonly limits: OffloadLimits;
  /** The file tools that the agent has from us. */
  readonly tools: ReadonlySet<string>;
}

/** Facts that a message keeps about its text. */
interface TextMark {
  readonly path: string;
  /** Length of the text; another length means that the message was changed. */
  readonly characters: number;
  readonly limit: number;
  readonly canRead: boolean;
}

export function createOffloadStages(options: OffloadOptions): Stages {
  return {
    input: (messages, task) => takeInput(messages, task, options),
    result: (message, call, task) => takeResult(message, call, task, options),
    reply: (message, sent, task) => takeReply(message, sent, task, options),
    render: renderOffloaded,
  };
}

/** Its pages are never larger than the limit; were they moved, reading them back would never end. */
const PAGED = "read_file";
/**
 * Tools whose results the model can get again in smaller parts. A file of their results would only appear in the next
 * search.
 */
const REPEATABLE = new Set(["ls", "glob", "grep"]);

async function takeResult(
  message: ToolMessage,
  call: ToolCall,
  task: StageTask,
  options: OffloadOptions,
): Promise<ToolMessage> {
  const { limits, tools, backend } = options;
  limits.see(await task.model());
  const limit = limits.result;
  const isOurs = tools.has(call.name);
  if (limit === undefined || (isOurs && call.name === PAGED)) return message;
  const text = textOf(message.content);
  if (!exceeds(text, limit)) return message;
  const shown: ShownText = { what: "result", text, limit, canRead: tools.has(PAGED) };
  if (isOurs && REPEATABLE.has(call.name))
    return withWords(message, text, cutWords(shown), { shortened: true });
  const kept = await saveText(backend, task, { area: "large_tool_results", id: message.tool_call_id }, text);
  if (kept.error !== undefined)
    return withWords(message, text, lostWords(shown, kept.error), { shortened: true });
  return withWords(message, text, offloadedWords(shown, kept.path), { offloaded: { path: kept.path } });
}

/** With a very small limit the words about a text may be longer than the text. */
function withWords(message: ToolMessage, text: string, words: string, marks: object): ToolMessage {
  if (words.length >= text.length) return message;
  const content = withText(message.content, words);
  return copyMessage(message, { content, ...withMarks(message, { ...marks }) });
}

async function takeInput(
  messages: readonly BaseMessage[],
  task: StageTask,
  options: OffloadOptions,
): Promise<readonly BaseMessage[]> {
  options.limits.see(await task.model());
  const limit = options.limits.human;
  if (limit === undefined || !messages.some((message) => isLongHuman(message, limit))) return messages;
  return Promise.all(
    messages.map((message) =>
      isLongHuman(message, limit) ? markHuman(message, limit, task, options) : message,
    ),
  );
}

function isLongHuman(message: BaseMessage, limit: number): boolean {
  return (
    HumanMessage.isInstance(message) &&
    !marksOf(message)?.offloaded &&
    exceeds(textOf(message.content), limit)
  );
}

async function markHuman(
  message: BaseMessage,
  limit: number,
  task: StageTask,
  { backend, tools }: OffloadOptions,
): Promise<BaseMessage> {
  const text = textOf(message.content);
  const id = `message-${message.id ?? textHash(text)}`;
  const { path } = await saveText(backend, task, { area: "conversation_history", id }, text);
  if (path === undefined) return message;
  const mark: TextMark = { path, characters: text.length, limit, canRead: tools.has(PAGED) };
  return copyMessage(message, withMarks(message, { offloaded: mark }));
}

/** The calls run with all of their arguments; only later requests have the shorter form. */
async function takeReply(
  message: AIMessage,
  sent: Outgoing,
  task: StageTask,
  { backend, limits, tools }: OffloadOptions,
): Promise<AIMessage> {
  limits.see(sent.model);
  const limit = limits.result;
  const long = longArguments(message, limit);
  if (long.length === 0 || limit === undefined) return message;
  const marks = await Promise.all(
    long.map((argument) => markArgument(argument, { backend, task, limit, canRead: tools.has(PAGED) })),
  );
  const kept = marks.filter((mark) => mark !== undefined);
  return kept.length === 0 ? message : copyMessage(message, withMarks(message, { arguments: kept }));
}

interface ArgumentContext {
  readonly backend: BackendSource;
  readonly task: StageTask;
  readonly limit: number;
  readonly canRead: boolean;
}

async function markArgument(
  { call, name, text }: LongArgument,
  { backend, task, limit, canRead }: ArgumentContext,
): Promise<ArgumentMark | undefined> {
  const hash = textHash(text);
  const id = `${call.name}-${name}-${hash}`;
  const { path } = await saveText(backend, task, { area: "large_tool_results", id }, text);
  return path === undefined ? undefined : { name, characters: text.length, hash, path, limit, canRead };
}

interface Rendered {
  readonly content: unknown;
  readonly calls: unknown;
  readonly message: BaseMessage;
}

const rendered = new WeakMap<BaseMessage, Rendered>();

/** A message that was edited in place is looked at again. */
function renderOffloaded(message: BaseMessage): BaseMessage {
  const marks = marksOf(message);
  if (marks === undefined) return message;
  const calls = AIMessage.isInstance(message) ? message.tool_calls : undefined;
  const known = rendered.get(message);
  if (known !== undefined && known.content === message.content && known.calls === calls) return known.message;
  const made = renderMarked(message, marks);
  rendered.set(message, { content: message.content, calls, message: made });
  return made;
}

function renderMarked(message: BaseMessage, marks: Readonly<Record<string, unknown>>): BaseMessage {
  if (HumanMessage.isInstance(message)) return renderHuman(message, marks.offloaded as TextMark | undefined);
  if (!AIMessage.isInstance(message) || !Array.isArray(marks.arguments)) return message;
  return shortenArguments(
    message,
    marks.arguments as ArgumentMark[],
    (text, { name, limit, canRead, path }) =>
      offloadedWords({ what: `argument '${name}'`, text, limit, canRead }, path),
  );
}

function renderHuman(message: HumanMessage, mark: TextMark | undefined): BaseMessage {
  const text = textOf(message.content);
  if (mark?.characters !== text.length) return message;
  const { path, limit, canRead } = mark;
  const words = offloadedWords({ what: "message", text, limit, canRead }, path);
  return copyMessage(message, { content: withText(message.content, words) });
}
