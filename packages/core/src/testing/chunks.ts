/** A reply in the pieces a provider would stream. */
import { AIMessageChunk, type ContentBlock, type UsageMetadata } from "@langchain/core/messages";
import type { WireCall } from "./turn.ts";

/** Everything a reply consists of, ready to be sent whole or in pieces. */
export interface WireReply {
  readonly content: string | readonly ContentBlock[];
  readonly calls: readonly WireCall[];
  readonly usage: UsageMetadata | undefined;
  readonly responseMetadata: Record<string, unknown>;
  readonly additionalKwargs: Record<string, unknown>;
  readonly id: string | undefined;
}

/**
 * The chunks of a reply: words, then each call (its name and id first, then its argument text),
 * then one chunk with usage and the reason to stop.
 *
 * Calls are numbered after the content blocks, because LangChain's event stream counts both in one row.
 */
export function chunksOf(reply: WireReply, chunkSize: number): AIMessageChunk[] {
  const { id } = reply;
  const words =
    typeof reply.content === "string"
      ? pieces(reply.content, chunkSize).map((text) => new AIMessageChunk({ id, content: text }))
      : reply.content.flatMap((block, index) => blockChunks(id, block, index, chunkSize));
  const offset = typeof reply.content === "string" ? Math.min(words.length, 1) : reply.content.length;
  return [
    ...words,
    ...reply.calls.flatMap((call, index) => callChunks(id, call, offset + index, chunkSize)),
    new AIMessageChunk({
      id,
      content: "",
      usage_metadata: reply.usage,
      response_metadata: { ...reply.responseMetadata },
      additional_kwargs: { ...reply.additionalKwargs },
    }),
  ];
}

const GROWING_FIELDS = ["text", "thinking", "reasoning"] as const;

function blockChunks(
  id: string | undefined,
  block: ContentBlock,
  index: number,
  chunkSize: number,
): AIMessageChunk[] {
  const field = GROWING_FIELDS.find((name) => block.type === name && typeof block[name] === "string");
  const parts = field === undefined ? [] : pieces(block[field] as string, chunkSize);
  const blocks =
    field === undefined || parts.length === 0
      ? [{ ...block, index }]
      : parts.map((part, i) => ({ ...(i === 0 ? block : { type: block.type }), [field]: part, index }));
  return blocks.map((content) => new AIMessageChunk({ id, content: [content as ContentBlock] }));
}

function callChunks(
  id: string | undefined,
  call: WireCall,
  index: number,
  chunkSize: number,
): AIMessageChunk[] {
  const type = "tool_call_chunk" as const;
  const head = { type, index, name: call.name, id: call.id, args: "" };
  const tail = pieces(call.json, chunkSize).map((args) => ({ type, index, args }));
  return [head, ...tail].map((chunk) => new AIMessageChunk({ id, content: "", tool_call_chunks: [chunk] }));
}

/** Cuts every `size` characters, never through a surrogate pair. No pieces for an empty text. */
export function pieces(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + size;
    if (isLowSurrogate(text.charCodeAt(end))) end += 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
