/**
 * Whether a request extends the one before it, and if not, where it first differs.
 *
 * Providers keep the beginning of a request: tools, system prompt, then messages, as long as not one byte
 * of it changes. Cache markers do not count, and one block of text is the same as the text.
 */

import { AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { AgentMiddleware } from "langchain";
import { STAGES } from "../internal-symbols.ts";
import type { Outgoing, WithStages } from "../loop/contract/stages.ts";

/**
 * A request of LangChain's messages (`calls` of a scripted model, what `recordRequests` recorded), or the JSON that
 * went to Anthropic, OpenAI (both APIs) or Gemini.
 */
export interface AnyRequest {
  readonly tools?: readonly unknown[] | null;
  readonly messages?: readonly unknown[];
  readonly system?: unknown;
  readonly input?: unknown;
  readonly instructions?: unknown;
  readonly contents?: readonly unknown[];
  readonly systemInstruction?: unknown;
}

/** One tool, the system prompt or one message of a request. */
export interface RequestPart {
  /** A name like "tool 3 (grep)", "system", "message 12 (tool)"; counted from 0. */
  readonly name: string;
  readonly text: string;
}

export interface PrefixDifference {
  /** Where the requests part; of the next request, unless it ends there. */
  readonly part: string;
  /** How many bytes are the same before it, from the beginning of the request and of the part. */
  readonly offset: number;
  readonly offsetInPart: number;
  /** The last characters that are the same, and how either request goes on; "" where it ends. */
  readonly common: string;
  readonly previous: string;
  readonly next: string;
}

/** The request in the order providers cache it. */
export function requestParts(request: AnyRequest): readonly RequestPart[] {
  const listed = request.messages ?? request.contents ?? asList(request.input);
  const { system, rest } = splitSystem(request, listed);
  const tools = (request.tools ?? []).map((tool, index) => {
    const text = toolText(tool);
    return { name: `tool ${index}${nameIn(text)}`, text };
  });
  const messages = rest.map((message, index) => ({
    name: `message ${index} (${roleOf(message)})`,
    text: messageText(message),
  }));
  return [...tools, ...(system === undefined ? [] : [{ name: "system", text: plain(system) }]), ...messages];
}

/** Undefined when all of `previous` is the beginning of `next`. */
export function firstDifference(previous: AnyRequest, next: AnyRequest): PrefixDifference | undefined {
  const before = requestParts(previous);
  const after = requestParts(next);
  let offset = 0;
  for (const [index, part] of before.entries()) {
    const other = after[index];
    if (other?.text === part.text) {
      offset += byteLength(part.text);
      continue;
    }
    const same = commonLength(part.text, other?.text ?? "");
    const bytes = byteLength(part.text.slice(0, same));
    return {
      part: (other ?? part).name,
      offset: offset + bytes,
      offsetInPart: bytes,
      common: part.text.slice(Math.max(0, same - CONTEXT), same),
      previous: part.text.slice(same, same + CONTEXT),
      next: (other?.text ?? "").slice(same, same + CONTEXT),
    };
  }
  return undefined;
}

/** The same in words, for a person who looks for what costs the cache. */
export function explainPrefix(previous: AnyRequest, next: AnyRequest): string {
  const found = firstDifference(previous, next);
  const sizes = [previous, next].map(requestBytes);
  if (found === undefined) return `The ${sizes[0]} bytes of the request are the beginning of the next one.`;
  const { part, offset, offsetInPart, common, previous: was, next: is } = found;
  return [
    `The requests are the same for ${offset} of ${sizes[0]} bytes and part in ${part}, at byte ${offsetInPart} of it.`,
    `  both:   …${JSON.stringify(common)}`,
    `  before: ${was === "" ? "(ends)" : JSON.stringify(was)}`,
    `  now:    ${is === "" ? "(ends)" : JSON.stringify(is)}`,
  ].join("\n");
}

export function requestBytes(request: AnyRequest): number {
  return requestParts(request).reduce((sum, part) => sum + byteLength(part.text), 0);
}

/** How much of all that was sent was the beginning of the request before: 0 to 1, in bytes. */
export function prefixShare(requests: readonly AnyRequest[]): number {
  let sent = 0;
  let shared = 0;
  requests.forEach((request, index) => {
    const bytes = requestBytes(request);
    const previous = requests[index - 1];
    sent += bytes;
    if (previous !== undefined)
      shared += firstDifference(previous, request)?.offset ?? requestBytes(previous);
  });
  return sent === 0 ? 0 : shared / sent;
}

export interface RequestRecorder {
  /** For the end of the option `middleware`: it sees requests as they leave. */
  readonly middleware: AgentMiddleware & WithStages;
  readonly requests: readonly AnyRequest[];
  /** `explainPrefix` for each request that does not extend the one before it, with its index. */
  breaks(): readonly { readonly request: number; readonly explanation: string }[];
}

/** Keeps the requests of one thread of an agent, whatever its model is. */
export function recordRequests(): RequestRecorder {
  const requests: AnyRequest[] = [];
  const outgoing = (sent: Outgoing): Outgoing => {
    requests.push({ messages: sent.messages, tools: sent.tools });
    return sent;
  };
  return {
    middleware: { name: "RequestRecorder", [STAGES]: { outgoing } },
    requests,
    breaks: () =>
      requests.flatMap((request, index) => {
        const previous = requests[index - 1];
        if (previous === undefined || firstDifference(previous, request) === undefined) return [];
        return [{ request: index, explanation: explainPrefix(previous, request) }];
      }),
  };
}

const CONTEXT = 60;
const encoder = new TextEncoder();
const lengths = new Map<string, number>();

function byteLength(text: string): number {
  const known = lengths.get(text);
  if (known !== undefined) return known;
  const length = encoder.encode(text).length;
  if (lengths.size > 10_000) lengths.clear();
  lengths.set(text, length);
  return length;
}

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[same] === b[same]) same += 1;
  return same;
}

function asList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

interface SplitRequest {
  readonly system: unknown;
  readonly rest: readonly unknown[];
}

/** The system prompt stands in a field of its own, or first among the messages. */
function splitSystem(request: AnyRequest, listed: readonly unknown[]): SplitRequest {
  const given = request.system ?? request.systemInstruction ?? request.instructions;
  if (given !== undefined) return { system: given, rest: listed };
  const [first] = listed;
  const isSystem = first !== undefined && ["system", "developer"].includes(roleOf(first));
  if (!isSystem) return { system: undefined, rest: listed };
  return { system: (first as { content?: unknown }).content, rest: listed.slice(1) };
}

function roleOf(message: unknown): string {
  const { role, type } = message as { role?: string; type?: string };
  return isBaseMessage(message) ? message.type : (role ?? type ?? "user");
}

function nameIn(text: string): string {
  const name = /"name":"([^"]*)"/.exec(text)?.[1];
  return name === undefined ? "" : ` (${name})`;
}

interface KeptText {
  readonly source: unknown;
  readonly text: string;
}

const messageTexts = new WeakMap<object, KeptText>();

function messageText(message: unknown): string {
  if (!isBaseMessage(message)) return plain(message);
  const known = messageTexts.get(message);
  if (known !== undefined && known.source === message.content) return known.text;
  const text = plain(wireForm(message));
  messageTexts.set(message, { source: message.content, text });
  return text;
}

/** Part of a message that every provider is sent. */
function wireForm(message: BaseMessage): object {
  const { type, content } = message;
  if (ToolMessage.isInstance(message)) return { type, tool_call_id: message.tool_call_id, content };
  if (!AIMessage.isInstance(message)) return asResult(content) ?? { type, content };
  const calls = (message.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, args }));
  return { type, content, ...(calls.length > 0 ? { calls } : {}) };
}

/** A result in Anthropic's form, as it is sent when it carries a marker. */
function asResult(content: BaseMessage["content"]): object | undefined {
  const block = typeof content === "string" || content.length !== 1 ? undefined : content[0];
  if (block?.type !== "tool_result") return undefined;
  return { type: "tool", tool_call_id: block.tool_use_id, content: block.content };
}

const toolTexts = new WeakMap<object, string>();

function toolText(tool: unknown): string {
  const known = toolTexts.get(tool as object);
  if (known !== undefined) return known;
  const text = plain(toolForm(tool));
  toolTexts.set(tool as object, text);
  return text;
}

function toolForm(tool: unknown): unknown {
  const { name, description, input_schema, schema } = tool as Record<string, unknown>;
  if (input_schema !== undefined) return { name, description, parameters: input_schema };
  if (schema === undefined) return tool;
  const { function: called } = convertToOpenAITool(tool as never);
  return { name: called.name, description: called.description, parameters: called.parameters };
}

/** JSON without cache markers, in which a single block of text is a text. */
function plain(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (key === "cache_control") return undefined;
    if (!Array.isArray(inner)) return inner;
    const blocks = inner.filter((block) => !isCachePoint(block));
    return isOneText(blocks) ? (blocks[0] as { text: string }).text : blocks;
  });
}

function isCachePoint(block: unknown): boolean {
  return typeof block === "object" && block !== null && "cachePoint" in block;
}

function isOneText(blocks: readonly unknown[]): boolean {
  const [block] = blocks as readonly { type?: unknown; text?: unknown }[];
  return blocks.length === 1 && block?.type === "text" && typeof block.text === "string";
}
