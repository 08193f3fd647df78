/** Messages as the semantic conventions write them, redacted. Only for those who asked for content. */
import { type AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { Attributes } from "@opentelemetry/api";
import { stopReason } from "../loop/messages/outcome.ts";
import type { Redaction } from "./redaction.ts";

type Part = Readonly<Record<string, unknown>>;

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** A thread is sent again with each request: what a message says is worked out once. */
const written = new WeakMap<Redaction, WeakMap<BaseMessage, string>>();

export function requestContent(messages: readonly BaseMessage[], redaction: Redaction): Attributes {
  const [first, ...rest] = messages;
  const isSystem = first?.type === "system";
  const said = isSystem ? rest : messages;
  return {
    ...(isSystem && { "gen_ai.system_instructions": redaction.json(textParts(first)) }),
    "gen_ai.input.messages": `[${said.map((message) => messageJson(message, redaction)).join(",")}]`,
  };
}

export function replyContent(reply: AIMessage, redaction: Redaction): Attributes {
  const finish_reason = stopReason(reply) ?? "stop";
  const message = { role: "assistant", parts: partsOf(reply), finish_reason };
  return { "gen_ai.output.messages": redaction.json([message]) };
}

export function argumentsContent(args: unknown, redaction: Redaction): Attributes {
  return { "gen_ai.tool.call.arguments": redaction.json(args) };
}

export function resultContent({ content }: Pick<ToolMessage, "content">, redaction: Redaction): Attributes {
  const result = typeof content === "string" ? content : blockParts(content as readonly Part[]);
  return { "gen_ai.tool.call.result": redaction.json(result) };
}

function messageJson(message: BaseMessage, redaction: Redaction): string {
  const known = written.get(redaction) ?? new WeakMap<BaseMessage, string>();
  written.set(redaction, known);
  const json = known.get(message) ?? redaction.json({ role: roleOf(message), parts: partsOf(message) });
  known.set(message, json);
  return json;
}

function roleOf({ type }: BaseMessage): string {
  return ROLES[type] ?? type;
}

function partsOf(message: BaseMessage): readonly Part[] {
  if (ToolMessage.isInstance(message))
    return [{ type: "tool_call_response", id: message.tool_call_id, response: message.text }];
  const calls = (message as AIMessage).tool_calls ?? [];
  return [
    ...textParts(message),
    ...calls.map(({ id, name, args }) => ({ type: "tool_call", id, name, arguments: args })),
  ];
}

function textParts({ content }: BaseMessage): readonly Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", content }];
  return blockParts(content as readonly Part[]);
}

/** Calls are taken from the message. Images and other media are named by their kind only. */
function blockParts(blocks: readonly Part[]): readonly Part[] {
  return blocks.filter(({ type }) => !CALL_BLOCKS.has(String(type))).map(blockPart);
}

const CALL_BLOCKS = new Set(["tool_use", "tool_call", "function_call", "functionCall", "input_json_delta"]);

function blockPart(block: Part): Part {
  const { type, text, reasoning, thinking, mimeType, mime_type = mimeType } = block;
  if (type === "text") return { type, content: text };
  if (type === "reasoning" || type === "thinking")
    return { type: "reasoning", content: reasoning ?? thinking };
  return { type, ...(typeof mime_type === "string" && { mime_type }) };
}
