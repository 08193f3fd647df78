/**
 * Content of messages and tools in tokens of each kind, before a model's calibration.
 *
 * A tally is kept with its message, and made anew when the message was edited in place.
 */
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { isReasoning } from "../../loop/messages/request.ts";
import { TEXT_KINDS, tallyTokens } from "../../tokens.ts";
import { mediaTokens } from "./token-media.ts";

/** The kinds of text, then tool schemas, media, and what a provider adds to each message. */
export const TALLY_KINDS = [...TEXT_KINDS, "tools", "media", "frame"] as const;

/**
 * Tokens by kind, in the order of `TALLY_KINDS`. Not to be changed once it was handed out. A plain list: a typed
 * one of this size has its numbers outside the heap, which costs more than the counting.
 */
export type Tally = number[];

const TOOLS = TALLY_KINDS.indexOf("tools");
const MEDIA = TALLY_KINDS.indexOf("media");
const FRAME = TALLY_KINDS.indexOf("frame");

const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_CALL = 8;
/** Characters of one string inside a block nobody knows; a longer one is data, not words. */
const LONGEST_WORDS = 4000;

const NOTHING: Readonly<Tally> = TALLY_KINDS.map(() => 0);

export function emptyTally(): Tally {
  return NOTHING.slice();
}

export function addTally(sum: Tally, more: ArrayLike<number>): Tally {
  for (let i = 0; i < more.length; i += 1) sum[i] = (sum[i] as number) + (more[i] as number);
  return sum;
}

interface Kept {
  readonly content: unknown;
  readonly calls: unknown;
  readonly tally: Tally;
}

const messageTallies = new WeakMap<BaseMessage, Kept>();

export function messageTally(message: BaseMessage): Tally {
  const { content } = message;
  const calls = (message as AIMessage).tool_calls;
  const kept = messageTallies.get(message);
  if (kept !== undefined && kept.content === content && kept.calls === calls) return kept.tally;
  const tally = emptyTally();
  add(tally, FRAME, TOKENS_PER_MESSAGE);
  for (const call of calls ?? []) {
    add(tally, FRAME, TOKENS_PER_CALL);
    addTally(tally, tallyTokens(`${call.name}${JSON.stringify(call.args) ?? ""}`));
  }
  if (typeof content === "string") addTally(tally, tallyTokens(content));
  else addBlocks(tally, content, (calls ?? []).length > 0);
  messageTallies.set(message, { content, calls, tally });
  return tally;
}

function add(tally: Tally, place: number, tokens: number): void {
  tally[place] = (tally[place] as number) + tokens;
}

type Block = Readonly<Record<string, unknown>>;

const CALL_BLOCKS = new Set(["tool_use", "tool_call", "function_call", "input_json_delta", "functionCall"]);

function addBlocks(tally: Tally, blocks: readonly unknown[], areCallsCounted: boolean): void {
  for (const item of blocks) {
    const block = (typeof item === "string" ? { type: "text", text: item } : item) as Block;
    const type = String(block.type ?? "");
    if (type === "text" && typeof block.text === "string") addTally(tally, tallyTokens(block.text));
    else if (isReasoning(block as { type?: string })) addReasoning(tally, block);
    else if (CALL_BLOCKS.has(type) && areCallsCounted) continue;
    else if (Array.isArray(block.content)) addBlocks(tally, block.content, areCallsCounted);
    else if (typeof block.content === "string") addTally(tally, tallyTokens(block.content));
    else {
      const media = mediaTokens(block);
      if (media !== undefined) add(tally, MEDIA, media);
      else addTally(tally, tallyTokens(JSON.stringify(block, withoutData) ?? ""));
    }
  }
}

/** Signatures are not billed; thinking that a provider made unreadable is, by about its size. */
function addReasoning(tally: Tally, { thinking, reasoning, reasoningText, summary, data }: Block): void {
  const words = thinking ?? reasoning ?? (reasoningText as { text?: unknown } | undefined)?.text ?? summary;
  if (typeof words === "string") addTally(tally, tallyTokens(words));
  else if (words !== undefined) addTally(tally, tallyTokens(JSON.stringify(words) ?? ""));
  if (typeof data === "string") add(tally, FRAME, data.length / 5);
}

function withoutData(_key: string, value: unknown): unknown {
  return typeof value === "string" && value.length > LONGEST_WORDS ? value.slice(0, LONGEST_WORDS) : value;
}

const toolTallies = new WeakMap<object, number>();
/** By schema, then by name and description: the built-in tools of every agent share their schemas. */
const definitionTallies = new WeakMap<object, Map<string, number>>();
const MOST_OF_ONE_SCHEMA = 64;

/** Each tool is converted once, whatever lists it is in. */
export function toolsTally(tools: readonly unknown[]): Tally {
  const tally = emptyTally();
  for (const tool of tools) add(tally, TOOLS, toolTokens(tool as object));
  return tally;
}

function toolTokens(tool: object): number {
  const known = toolTallies.get(tool);
  if (known !== undefined) return known;
  const tokens = isTool(tool) ? definitionTokens(tool) : jsonTokens(tool);
  toolTallies.set(tool, tokens);
  return tokens;
}

function isTool(tool: object): tool is StructuredToolInterface {
  return "schema" in tool && "name" in tool;
}

function definitionTokens(tool: StructuredToolInterface): number {
  const { schema, name, description } = tool;
  if (typeof schema !== "object" || schema === null) return jsonTokens(convertToOpenAITool(tool));
  const ofSchema = definitionTallies.get(schema) ?? new Map<string, number>();
  const key = `${name}\0${description}`;
  const tokens = ofSchema.get(key) ?? jsonTokens(convertToOpenAITool(tool));
  if (ofSchema.size >= MOST_OF_ONE_SCHEMA) ofSchema.clear();
  definitionTallies.set(schema, ofSchema.set(key, tokens));
  return tokens;
}

function jsonTokens(value: unknown): number {
  return tallyTokens(JSON.stringify(value) ?? "").reduce((sum, count) => sum + count, 0);
}
