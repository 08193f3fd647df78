/**
 * Prepares a model's reply for the thread: every call in it can be answered exactly once.
 *
 * A call that cannot run (broken JSON, arguments that are no object, cut off, no name) stays in the message with empty
 * arguments. The reason is in `invalid_tool_calls` under the same id, so that it survives a checkpoint and the gateway
 * can report it to the model.
 */
import {
  AIMessage,
  type AIMessageChunk,
  type InvalidToolCall,
  type ToolCall,
  type ToolCallChunk,
} from "@langchain/core/messages";
import { newId } from "./messages.ts";
import { wasCutByLength, wasFinished } from "./outcome.ts";

/** Arguments longer than this (in characters) are refused: no model means to send them. */
export const MAX_ARGUMENT_CHARACTERS = 8_000_000;

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly id: string;
  readonly problem?: string;
}

export interface ThreadFacts {
  /** Whether an earlier turn of the thread used this call id. */
  readonly isTaken: (callId: string) => boolean;
  readonly isTool: (name: string) => boolean;
}

export function normaliseReply(reply: AIMessage | AIMessageChunk, facts: ThreadFacts): AIMessage {
  const drafts = markTruncated(readCalls(reply), reply).map((call) => speakableName(call, facts.isTool));
  const calls = uniqueIds(drafts, facts.isTaken);
  if (calls.length === 0 && !isChunk(reply)) return reply;
  const changed = isChunk(reply) || calls.some((call, i) => differs(call, reply.tool_calls?.[i]));
  return changed ? rebuild(reply, calls) : reply;
}

/** Why a call of this message cannot be run; undefined for a sound one. */
export function problemOf(message: AIMessage, callId: string): string | undefined {
  return message.invalid_tool_calls?.find((call) => call.id === callId)?.error;
}

/** Takes over the problems of calls that are in both messages with the same arguments. */
export function keepProblems(original: AIMessage, rewritten: AIMessage): void {
  const lost = (original.invalid_tool_calls ?? []).filter(({ id, error }) => {
    if (id === undefined || error === undefined || problemOf(rewritten, id) !== undefined) return false;
    return JSON.stringify(argumentsOf(original, id)) === JSON.stringify(argumentsOf(rewritten, id));
  });
  if (lost.length === 0) return;
  rewritten.invalid_tool_calls = [...(rewritten.invalid_tool_calls ?? []), ...lost];
  rewritten.lc_kwargs.invalid_tool_calls = rewritten.invalid_tool_calls;
}

function argumentsOf(message: AIMessage, callId: string): unknown {
  return message.tool_calls?.find((call) => call.id === callId)?.args;
}

/** The same message, the given calls having other arguments. */
export function withArguments(
  message: AIMessage,
  edits: ReadonlyMap<string, Record<string, unknown>>,
): AIMessage {
  const calls = (message.tool_calls ?? []).map((call) => {
    const id = call.id ?? "";
    const problem = problemOf(message, id);
    return { name: call.name, args: edits.get(id) ?? call.args, id, ...(problem ? { problem } : {}) };
  });
  return rebuild(message, calls);
}

function isChunk(reply: AIMessage | AIMessageChunk): reply is AIMessageChunk {
  return Array.isArray((reply as AIMessageChunk).tool_call_chunks);
}

const UNNAMED = "unnamed_tool";
/** Ids of calls that every provider accepts. */
const CALL_ID = /^[A-Za-z0-9_-]{1,40}$/;

type Draft = Omit<Call, "id"> & { readonly id: string | undefined };

function readCalls(reply: AIMessage | AIMessageChunk): Draft[] {
  if (isChunk(reply) && (reply.tool_call_chunks ?? []).length > 0) return fromChunks(reply);
  const sound = (reply.tool_calls ?? []).map(checkCall);
  return [...sound, ...invalidCalls(reply).map(brokenCall)];
}

/** LangChain's event stream reports broken calls as content blocks only. */
function invalidCalls(reply: AIMessage): InvalidToolCall[] {
  const listed = reply.invalid_tool_calls ?? [];
  if (listed.length > 0 || typeof reply.content === "string") return listed;
  return reply.content.filter((block) => block.type === "invalid_tool_call") as unknown as InvalidToolCall[];
}

/**
 * Parses streamed arguments strictly. LangChain completes broken JSON for display; completed arguments must not run.
 */
function fromChunks(reply: AIMessageChunk): Draft[] {
  const merged = mergedChunks(reply.tool_call_chunks ?? []);
  const finished = wasFinished(reply);
  return merged.map(({ name, args, id }) =>
    args === "" && !finished ? refused(name, id, NO_ARGUMENTS) : parseCall(name, args, id),
  );
}

interface MergedChunks {
  name: string;
  args: string;
  id: string | undefined;
}

/** Pieces of one call share an index. Ollama sends every call under index 0, so another id begins another call. */
function mergedChunks(chunks: readonly ToolCallChunk[]): MergedChunks[] {
  const calls: MergedChunks[] = [];
  const latest = new Map<unknown, MergedChunks>();
  for (const { name, args, id, index } of chunks) {
    const key = index ?? id;
    const known = key === undefined ? undefined : latest.get(key);
    const isSame = known !== undefined && (!id || !known.id || id === known.id);
    const call = isSame ? known : { name: "", args: "", id: undefined };
    if (!isSame) calls.push(call);
    call.name += name ?? "";
    call.args += args ?? "";
    call.id ||= id;
    if (key !== undefined) latest.set(key, call);
  }
  return calls;
}

/** Only the end of a stream shows whether a call has no arguments or lost them. */
const NO_ARGUMENTS =
  "The reply broke off before the arguments came. Make the call again; write {} if there are none.";

function parseCall(name: string, text: string, id: string | undefined): Draft {
  if (text.trim() === "") return checkCall({ name, args: {}, id });
  if (text.length > MAX_ARGUMENT_CHARACTERS) return refused(name, id, tooLong(text.length));
  try {
    return checkCall({ name, args: JSON.parse(text), id });
  } catch (error) {
    return refused(name, id, `The arguments are not valid JSON (${(error as Error).message}).`);
  }
}

function checkCall(call: Pick<ToolCall, "name" | "args" | "id">): Draft {
  const { name, args, id } = call;
  if (typeof name !== "string" || name.trim() === "") return refused("", id, "The call names no tool.");
  if (args === undefined) return { name, args: {}, id };
  if (args === null || typeof args !== "object" || Array.isArray(args))
    return refused(name, id, `The arguments must be a JSON object, but were ${kindOf(args)}.`);
  const length = characters(args);
  if (length > MAX_ARGUMENT_CHARACTERS) return refused(name, id, tooLong(length));
  return { name, args, id };
}

function brokenCall(call: InvalidToolCall): Draft {
  if (call.args) {
    const draft = parseCall(call.name ?? "", call.args, call.id);
    if (draft.problem !== undefined) return draft;
  }
  return refused(call.name ?? "", call.id, call.error ?? "The call is malformed.");
}

function refused(name: string, id: string | undefined, problem: string): Draft {
  return { name: name.trim() === "" ? UNNAMED : name, args: {}, id, problem };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function tooLong(length: number): string {
  return `The arguments are too long: ${length} characters, at most ${MAX_ARGUMENT_CHARACTERS} are accepted. Split the work into smaller calls.`;
}

/** Text in the arguments, counted until it is clear that it is too much. */
function characters(value: unknown, budget = MAX_ARGUMENT_CHARACTERS + 1): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let total = 2;
  for (const [key, item] of Object.entries(value)) {
    total += key.length + characters(item, budget - total);
    if (total > budget) return total;
  }
  return total;
}

const SPEAKABLE = /^[A-Za-z0-9_-]{1,64}$/;

/** Providers refuse a history with a name like `a b`. No tool of ours has one, so the model gets an error. */
function speakableName(call: Draft, isTool: (name: string) => boolean): Draft {
  if (SPEAKABLE.test(call.name) || isTool(call.name)) return call;
  const name = call.name.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64) || UNNAMED;
  return refused(name, call.id, call.problem ?? `There is no tool '${call.name.slice(0, 100)}'.`);
}

/** At an output limit the last call may be incomplete although it parses: it is not run. */
function markTruncated(calls: Draft[], reply: AIMessage): Draft[] {
  const last = calls.at(-1);
  if (!last || last.problem !== undefined || !wasCutByLength(reply)) return calls;
  return [
    ...calls.slice(0, -1),
    refused(
      last.name,
      last.id,
      "The call was cut off at the model's output limit. Make it again with less content.",
    ),
  ];
}

function uniqueIds(calls: Draft[], isTaken: (callId: string) => boolean): Call[] {
  const used = new Set<string>();
  return calls.map((call) => {
    const wanted = call.id ?? "";
    const usable =
      typeof wanted === "string" && CALL_ID.test(wanted) && !used.has(wanted) && !isTaken(wanted);
    const id = usable ? wanted : `call_${newId().replaceAll("-", "")}`;
    used.add(id);
    return { ...call, id };
  });
}

function differs(call: Call, original: ToolCall | undefined): boolean {
  return (
    original === undefined ||
    call.problem !== undefined ||
    original.id !== call.id ||
    original.args !== call.args
  );
}

/** The same message with these calls. */
function rebuild(reply: AIMessage | AIMessageChunk, calls: readonly Call[]): AIMessage {
  return copyReply(reply, {
    content: contentFor(reply.content, calls),
    tool_calls: calls.map(({ name, args, id }) => ({ name, args, id, type: "tool_call" as const })),
    invalid_tool_calls: calls.flatMap(({ name, id, problem }) =>
      problem === undefined
        ? []
        : [{ name, id, args: "", error: problem, type: "invalid_tool_call" as const }],
    ),
  });
}

/** Copied with changes, never built from a list of known fields alone. */
export function copyReply(reply: AIMessage | AIMessageChunk, changes: Partial<AIMessage>): AIMessage {
  const { tool_call_chunks: _, ...kwargs } = reply.lc_kwargs as Record<string, unknown>;
  return new AIMessage({ ...kwargs, ...ownFields(reply), ...changes } as never);
}

function ownFields(reply: AIMessage): Record<string, unknown> {
  const { id, name, content, tool_calls, invalid_tool_calls } = reply;
  const { additional_kwargs, response_metadata, usage_metadata } = reply;
  return {
    ...{ id, name, content, tool_calls, invalid_tool_calls },
    ...{ additional_kwargs, response_metadata, usage_metadata },
  };
}

const CALL_BLOCKS = new Set([
  "tool_use",
  "tool_call",
  "tool_call_chunk",
  "invalid_tool_call",
  "input_json_delta",
]);

/** LangChain's own kinds. */
const STANDARD_BLOCKS = new Set(["tool_call", "tool_call_chunk", "invalid_tool_call"]);

/** Content blocks that repeat the calls (as Anthropic's do) must agree with them. */
function contentFor(content: AIMessage["content"], calls: readonly Call[]): AIMessage["content"] {
  if (typeof content === "string") return content;
  const rest = content.filter((block) => !CALL_BLOCKS.has(block.type ?? ""));
  if (rest.length === content.length) return content;
  const standard = content.some((block) => STANDARD_BLOCKS.has(block.type ?? ""));
  const blocks = calls.map(({ id, name, args }) =>
    standard ? { type: "tool_call", id, name, args } : { type: "tool_use", id, name, input: args },
  );
  return [...rest, ...blocks] as AIMessage["content"];
}
