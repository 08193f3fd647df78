/** Messages of the wire, read without trust: missing or odd parts read as empty. */
import type { ShownMessage, Usage } from "./screen.ts";
import { isRecord } from "./share.ts";

export interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** A piece of a call: the first names it, the others have more of its arguments. */
export interface ReadCallPiece {
  readonly index: number | string | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly args: string;
}

export interface ReadMessage {
  readonly id: string;
  readonly role: ShownMessage["role"] | "remove";
  readonly text: string;
  readonly reasoning: string;
  readonly media: readonly unknown[];
  readonly calls: readonly ReadCall[];
  /** Calls as far as they came, in a piece; undefined for a whole message. */
  readonly pieces: readonly ReadCallPiece[] | undefined;
  readonly callId: string | undefined;
  readonly failed: boolean;
  readonly name: string | undefined;
  readonly usage: Usage | undefined;
  readonly model: string | undefined;
}

const ROLES: Readonly<Record<string, ReadMessage["role"]>> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
  remove: "remove",
};

/** Undefined: it is no message, or has no id by which it could be found again. */
export function readMessage(value: unknown): ReadMessage | undefined {
  if (!isRecord(value)) return undefined;
  const type = string(value.type) ?? string(value.role) ?? "";
  const piece = type.endsWith("MessageChunk");
  const role = ROLES[(piece ? type.slice(0, -"MessageChunk".length) : type).toLowerCase()];
  const id = string(value.id);
  if (!role || !id) return undefined;
  const { text, reasoning, media } = readContent(value.content);
  const pieces = value.tool_call_chunks;
  return {
    id,
    role,
    text,
    reasoning: reasoning || thoughtAside(value.additional_kwargs),
    media,
    calls: list(value.tool_calls).flatMap(readCall),
    pieces:
      role === "assistant" && (piece || Array.isArray(pieces))
        ? list(pieces).flatMap(readCallPiece)
        : undefined,
    callId: string(value.tool_call_id),
    failed: value.status === "error",
    name: string(value.name),
    usage: readUsage(value.usage_metadata),
    model: readModel(value.response_metadata),
  };
}

function readContent(content: unknown): { text: string; reasoning: string; media: readonly unknown[] } {
  if (typeof content === "string") return { text: content, reasoning: "", media: [] };
  let text = "";
  let reasoning = "";
  const media: unknown[] = [];
  for (const block of list(content)) {
    if (typeof block === "string") text += block;
    else if (isRecord(block)) {
      const { type } = block;
      if (type === "text" || type === "text_delta" || type === "output_text")
        text += string(block.text) ?? "";
      else if (type === "reasoning" || type === "thinking")
        reasoning += string(block.reasoning) ?? string(block.thinking) ?? "";
      else if (!isCallBlock(type)) media.push(block);
    }
  }
  return { text, reasoning, media };
}

/** Calls stand in the content too with some providers; they are read from `tool_calls`. */
function isCallBlock(type: unknown): boolean {
  return (
    typeof type === "string" &&
    /^(?:tool_use|tool_call|tool_call_chunk|input_json_delta|function_call)$/.test(type)
  );
}

function thoughtAside(kwargs: unknown): string {
  return isRecord(kwargs) ? (string(kwargs.reasoning_content) ?? "") : "";
}

function readCall(value: unknown): ReadCall[] {
  if (!isRecord(value)) return [];
  const [id, name] = [string(value.id), string(value.name)];
  return id && name ? [{ id, name, args: value.args }] : [];
}

function readCallPiece(value: unknown): ReadCallPiece[] {
  if (!isRecord(value)) return [];
  const { index } = value;
  return [
    {
      index: typeof index === "number" || typeof index === "string" ? index : undefined,
      id: string(value.id) || undefined,
      name: string(value.name) || undefined,
      args: string(value.args) ?? "",
    },
  ];
}

function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const [input, output] = [number(value.input_tokens), number(value.output_tokens)];
  const cached = isRecord(value.input_token_details) ? number(value.input_token_details.cache_read) : 0;
  return {
    input,
    output,
    total: number(value.total_tokens) || input + output,
    ...(cached > 0 && { cached }),
  };
}

function readModel(metadata: unknown): string | undefined {
  if (!isRecord(metadata)) return undefined;
  return string(metadata.model_name) || string(metadata.model) || undefined;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function string(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
