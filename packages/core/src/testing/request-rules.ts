/** The rules a request must keep, each with the providers that insist on it. */
import type { AIMessage, BaseMessage, ContentBlock } from "@langchain/core/messages";
import { type AssistantTurn, outlineOf, type RequestOutline } from "./request-outline.ts";

/** A provider whose rules are known. */
export type Provider = "anthropic" | "openai" | "gemini";

/** One broken rule. `rule` is a stable name; `index` the position of the message it is about. */
export interface Violation {
  readonly rule: string;
  readonly index: number;
  readonly message: string;
}

interface Rule {
  readonly name: string;
  readonly providers: readonly Provider[];
  readonly find: (request: RequestOutline) => Iterable<Finding>;
}

type Finding = readonly [index: number, message: string];

export const PROVIDERS: readonly Provider[] = ["anthropic", "openai", "gemini"];

/** Findings of the rules whose providers are `wanted`, in the order of the messages. */
export function applyRules(
  messages: readonly BaseMessage[],
  wanted: (providers: readonly Provider[]) => boolean,
): Violation[] {
  const request = outlineOf(messages);
  const violations: Violation[] = [];
  for (const rule of RULES) {
    if (!wanted(rule.providers)) continue;
    for (const [index, message] of rule.find(request)) violations.push({ rule: rule.name, index, message });
  }
  return violations.sort((a, b) => a.index - b.index);
}

const RULES: readonly Rule[] = [
  { name: "message-type", providers: PROVIDERS, find: messageTypes },
  { name: "system-first", providers: PROVIDERS, find: systemFirst },
  { name: "starts-with-human", providers: ["anthropic", "gemini"], find: startsWithHuman },
  { name: "call-id", providers: PROVIDERS, find: callIds },
  { name: "call-id-pattern", providers: ["anthropic"], find: callIdPattern },
  { name: "call-id-length", providers: ["openai"], find: callIdLength },
  { name: "call-id-reused", providers: ["anthropic"], find: reusedCallIds },
  { name: "call-name", providers: PROVIDERS, find: callNames },
  { name: "call-name-dot", providers: ["anthropic", "openai"], find: dottedNames },
  { name: "call-args", providers: PROVIDERS, find: callArguments },
  { name: "call-answered", providers: PROVIDERS, find: unansweredCalls },
  { name: "call-after-user", providers: ["gemini"], find: callsAfterUser },
  { name: "hidden-call", providers: ["openai"], find: hiddenCalls },
  { name: "result-orphan", providers: PROVIDERS, find: orphans },
  { name: "result-duplicate", providers: PROVIDERS, find: duplicateResults },
  { name: "result-order", providers: PROVIDERS, find: resultOrder },
  { name: "result-name", providers: ["gemini"], find: resultNames },
  { name: "tool-block", providers: PROVIDERS, find: toolBlocks },
  { name: "tool-block-input", providers: ["gemini"], find: toolBlockInputs },
  { name: "empty-message", providers: ["anthropic", "gemini"], find: emptyMessages },
  { name: "blank-text", providers: ["anthropic"], find: blankTexts },
  { name: "thinking-last", providers: ["anthropic"], find: thinkingLast },
  { name: "trailing-whitespace", providers: ["anthropic"], find: trailingWhitespace },
];

const TYPES = new Set(["system", "human", "ai", "tool"]);

function* messageTypes({ messages }: RequestOutline): Iterable<Finding> {
  for (const [index, { type }] of messages.entries())
    if (!TYPES.has(type)) yield [index, `expected a system, human, ai or tool message, found '${type}'`];
}

function* systemFirst({ messages }: RequestOutline): Iterable<Finding> {
  for (const [index, { type }] of messages.entries())
    if (type === "system" && index > 0)
      yield [index, "the system message stands first, and there is only one"];
}

function* startsWithHuman({ messages }: RequestOutline): Iterable<Finding> {
  const first = messages.findIndex(({ type }) => type !== "system");
  if (first < 0) yield [0, "the conversation has no message from a human (Anthropic, Gemini)"];
  else if (messages[first]?.type !== "human")
    yield [
      first,
      `the conversation begins with a human message, not '${messages[first]?.type}' (Anthropic, Gemini)`,
    ];
}

function* callIds({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns) {
    const seen = new Set<string>();
    for (const { id, name } of calls) {
      if (!id) yield [index, `the call of '${name}' has no id`];
      else if (seen.has(id)) yield [index, `two calls of this message have the id '${id}'`];
      else seen.add(id);
    }
  }
}

function* callIdPattern({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns)
    for (const { id } of calls)
      if (id && !/^[a-zA-Z0-9_-]+$/.test(id))
        yield [index, `the call id '${id}' has characters outside a-z A-Z 0-9 _ - (Anthropic)`];
}

function* callIdLength({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns)
    for (const { id } of calls)
      if (id && id.length > 40)
        yield [index, `the call id '${id}' has ${id.length} characters, at most 40 are allowed (OpenAI)`];
}

function* reusedCallIds({ turns }: RequestOutline): Iterable<Finding> {
  const owner = new Map<string, number>();
  for (const { index, calls } of turns)
    for (const { id } of calls) {
      if (!id) continue;
      const earlier = owner.get(id);
      if (earlier === undefined) owner.set(id, index);
      else if (earlier !== index)
        yield [index, `the call id '${id}' was used by message #${earlier} (Anthropic)`];
    }
}

function* callNames({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns)
    for (const { name } of calls)
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
        yield [index, `the tool name '${name}' is not 1 to 64 characters of a-z A-Z 0-9 _ . -`];
}

function* dottedNames({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns)
    for (const { name } of calls)
      if (name.includes(".")) yield [index, `the tool name '${name}' has a dot (Anthropic, OpenAI)`];
}

function* callArguments({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns)
    for (const { args, name } of calls)
      if (!isPlainObject(args))
        yield [index, `the arguments of '${name}' are ${kindOf(args)}, not an object`];
}

function* unansweredCalls({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls, results } of turns)
    for (const { id, name } of calls)
      if (id && !results.some(({ message }) => message.tool_call_id === id))
        yield [index, `the call '${id}' of '${name}' has no result right behind it`];
}

function* callsAfterUser({ messages, turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls } of turns)
    if (calls.length > 0 && messages[index - 1]?.type === "ai")
      yield [
        index,
        "a message with calls follows a human message or tool results, not an assistant message (Gemini)",
      ];
}

/** LangChain's OpenAI package sends these when `tool_calls` is empty. */
function* hiddenCalls({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls, message } of turns)
    if (calls.length === 0 && message.additional_kwargs?.tool_calls?.length)
      yield [index, "additional_kwargs.tool_calls holds calls that tool_calls does not (OpenAI)"];
}

function* orphans({ turns, strays }: RequestOutline): Iterable<Finding> {
  for (const { index, message } of strays)
    yield [index, `the result '${message.tool_call_id}' follows no assistant message`];
  for (const { calls, results, index: caller, message: assistant } of turns)
    for (const { index, message } of results) {
      const id = message.tool_call_id;
      if (calls.some((call) => call.id === id)) continue;
      const invalid = assistant.invalid_tool_calls?.some((call) => call.id === id);
      const why = invalid ? ": that call is only in invalid_tool_calls, which no provider is sent" : "";
      yield [index, `the result '${id}' answers no call of message #${caller}${why}`];
    }
}

function* duplicateResults({ turns }: RequestOutline): Iterable<Finding> {
  for (const { calls, results } of turns) {
    if (results.length < 2) continue;
    const left = new Map<string, number>();
    for (const { id } of calls) if (id) left.set(id, (left.get(id) ?? 0) + 1);
    for (const { index, message } of results) {
      const open = left.get(message.tool_call_id);
      if (open === 0) yield [index, `the call '${message.tool_call_id}' already has a result`];
      else if (open !== undefined) left.set(message.tool_call_id, open - 1);
    }
  }
}

function* resultOrder({ turns }: RequestOutline): Iterable<Finding> {
  for (const { calls, results } of turns) {
    if (results.length < 2) continue;
    let last = -1;
    for (const { index, message } of results) {
      const position = calls.findIndex(({ id }) => id === message.tool_call_id);
      if (position < 0) continue;
      if (position < last)
        yield [index, `the result '${message.tool_call_id}' stands behind that of a later call`];
      last = Math.max(last, position);
    }
  }
}

/** The name of a result is taken from its call when it has none; an empty one is sent as it is. */
function* resultNames({ turns }: RequestOutline): Iterable<Finding> {
  for (const { results } of turns)
    for (const { index, message } of results)
      if (message.name === "")
        yield [index, `the result '${message.tool_call_id}' has an empty name (Gemini)`];
}

function* toolBlocks({ turns }: RequestOutline): Iterable<Finding> {
  for (const turn of turns)
    for (const block of toolBlocksOf(turn)) {
      const call = turn.calls.find(({ id }) => id === block.id);
      const input = parseInput(block);
      if (call === undefined) yield [turn.index, `the content calls '${block.id}', tool_calls does not`];
      else if (call.name !== block.name)
        yield [
          turn.index,
          `'${block.id}' is '${block.name}' in the content and '${call.name}' in tool_calls`,
        ];
      else if (!isPlainObject(input))
        yield [turn.index, `the input of '${block.id}' in the content is ${kindOf(input)}, not an object`];
      else if (!sameJson(input, call.args))
        yield [turn.index, `the input of '${block.id}' differs between the content and tool_calls`];
    }
}

/** Streamed Anthropic messages keep the input as text; LangChain's Gemini package sends it unparsed. */
function* toolBlockInputs({ turns }: RequestOutline): Iterable<Finding> {
  for (const turn of turns)
    for (const block of toolBlocksOf(turn))
      if (typeof (block.input ?? block.args) === "string")
        yield [turn.index, `the input of '${block.id}' in the content is text, not an object (Gemini)`];
}

function* emptyMessages({ messages }: RequestOutline): Iterable<Finding> {
  for (const [index, message] of messages.entries()) {
    if (message.type !== "human" && message.type !== "ai") continue;
    const last = index === messages.length - 1 && message.type === "ai";
    if (!last && isEmpty(message))
      yield [index, `an ${message.type} message has no content (Anthropic, Gemini)`];
  }
}

function* blankTexts({ messages }: RequestOutline): Iterable<Finding> {
  for (const [index, message] of messages.entries()) {
    if (message.type === "tool") continue;
    const texts = typeof message.content === "string" ? [message.content] : textsOf(message.content);
    const tolerated = typeof message.content === "string" && message.content === "";
    if (!tolerated && texts.some((text) => text.trim() === ""))
      yield [index, "a text is blank: only spaces or nothing (Anthropic)"];
  }
}

/** Calls that stand in `tool_calls` only are sent behind the content, so thinking is not last then. */
function* thinkingLast({ turns }: RequestOutline): Iterable<Finding> {
  for (const { index, calls, message } of turns) {
    const last = typeof message.content === "string" ? undefined : message.content.at(-1)?.type;
    if (calls.length === 0 && (last === "thinking" || last === "redacted_thinking"))
      yield [index, "an assistant message ends with thinking (Anthropic)"];
  }
}

function* trailingWhitespace({ messages }: RequestOutline): Iterable<Finding> {
  const index = messages.length - 1;
  const message = messages[index];
  if (message?.type !== "ai") return;
  const last = typeof message.content === "string" ? message.content : textsOf(message.content).at(-1);
  if (last !== undefined && last !== "" && last !== last.trimEnd())
    yield [index, "the request ends with an assistant message that ends with whitespace (Anthropic)"];
}

function isEmpty(message: BaseMessage): boolean {
  if (message.type === "ai" && ((message as AIMessage).tool_calls ?? []).length > 0) return false;
  return message.content.length === 0;
}

function textsOf(content: readonly ContentBlock[]): string[] {
  return content.flatMap((block) => (block.type === "text" ? [String(block.text ?? "")] : []));
}

function toolBlocksOf({ message }: AssistantTurn): ContentBlock[] {
  if (typeof message.content === "string") return [];
  return message.content.filter(({ type }) => type === "tool_use" || type === "tool_call");
}

function parseInput(block: ContentBlock): unknown {
  const input = block.input ?? block.args;
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  const other = b as Record<string, unknown>;
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => key in other && sameJson((a as Record<string, unknown>)[key], other[key]))
  );
}
