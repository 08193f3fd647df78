/** Estimates for messages and tools, before the correction by the provider's reports. Cached by object. */
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { isReasoning } from "../../loop/messages/request.ts";
import { tokensIn as rawTokensIn } from "../../tokens.ts";
import { mediaTokens } from "./token-media.ts";

const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_CALL = 8;
/** Characters of one string inside an unknown block; a longer one is data, not words. */
const LONGEST_WORDS = 4000;

/** Older vocabularies need so many more tokens for scripts other than Latin; a report corrects it where they do not. */
const SCRIPT_FACTOR = 1.3;
const tokensIn = (text: string): number => rawTokensIn(text, SCRIPT_FACTOR);

interface Kept {
  readonly content: unknown;
  readonly calls: unknown;
  readonly tokens: number;
}

const messages = new WeakMap<BaseMessage, Kept>();

/** A message that was edited in place is measured again. */
export function messageEstimate(message: BaseMessage): number {
  const { content } = message;
  const { tool_calls: calls = [] } = message as AIMessage;
  const kept = messages.get(message);
  if (kept !== undefined && kept.content === content && kept.calls === calls) return kept.tokens;
  let tokens = TOKENS_PER_MESSAGE;
  for (const { name, args } of calls) tokens += TOKENS_PER_CALL + tokensIn(`${name}${JSON.stringify(args)}`);
  tokens += typeof content === "string" ? tokensIn(content) : blocksEstimate(content, calls.length > 0);
  messages.set(message, { content, calls, tokens });
  return tokens;
}

type Block = Readonly<Record<string, unknown>>;

const CALL_BLOCKS = new Set(["tool_use", "tool_call", "function_call", "input_json_delta", "functionCall"]);

function blocksEstimate(blocks: readonly unknown[], areCallsCounted: boolean): number {
  return blocks.reduce((sum: number, item) => sum + blockEstimate(item, areCallsCounted), 0);
}

function blockEstimate(item: unknown, areCallsCounted: boolean): number {
  if (typeof item === "string") return tokensIn(item);
  const block = item as Block;
  if (block.type === "text" && typeof block.text === "string") return tokensIn(block.text);
  if (isReasoning(block as { type?: string })) return reasoningEstimate(block);
  if (CALL_BLOCKS.has(String(block.type)) && areCallsCounted) return 0;
  if (Array.isArray(block.content)) return blocksEstimate(block.content, areCallsCounted);
  if (typeof block.content === "string") return tokensIn(block.content);
  return mediaTokens(block) ?? tokensIn(JSON.stringify(block, withoutData) ?? "");
}

/** Signatures are not billed; thinking that a provider made unreadable is, by about its size. */
function reasoningEstimate({ thinking, reasoning, reasoningText, summary, data }: Block): number {
  const words = thinking ?? reasoning ?? (reasoningText as { text?: unknown } | undefined)?.text ?? summary;
  const text = typeof words === "string" ? words : (JSON.stringify(words) ?? "");
  return tokensIn(text) + (typeof data === "string" ? data.length / 5 : 0);
}

function withoutData(_key: string, value: unknown): unknown {
  return typeof value === "string" && value.length > LONGEST_WORDS ? value.slice(0, LONGEST_WORDS) : value;
}

const tools = new WeakMap<object, number>();

export function toolsEstimate(list: readonly unknown[]): number {
  return list.reduce((sum: number, tool) => sum + toolEstimate(tool as object), 0);
}

function toolEstimate(tool: object): number {
  const known = tools.get(tool);
  if (known !== undefined) return known;
  const sent = "schema" in tool && "name" in tool ? convertToOpenAITool(tool as never) : tool;
  const tokens = tokensIn(JSON.stringify(sent) ?? "");
  tools.set(tool, tokens);
  return tokens;
}
