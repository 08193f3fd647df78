/**
 * Messages and tools with Anthropic's cache marker at their end.
 *
 * A marked message is a copy, made once. A message that is sent with the marker in one turn and without it in the next
 * is otherwise the same, byte for byte.
 */
import { type BaseMessage, type ContentBlock, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatModel } from "../../loop/providers/model-source.ts";

export type CacheTtl = "5m" | "1h";

export interface CacheMarker {
  readonly type: "ephemeral";
  /** Absent: five minutes. */
  readonly ttl?: CacheTtl;
}

const MARKERS: Readonly<Record<CacheTtl, CacheMarker>> = {
  "5m": { type: "ephemeral" },
  "1h": { type: "ephemeral", ttl: "1h" },
};

type Block = ContentBlock & { readonly cache_control?: CacheMarker };

interface Marked {
  readonly source: BaseMessage["content"];
  readonly message: BaseMessage | undefined;
}

const markedMessages: Readonly<Record<CacheTtl, WeakMap<BaseMessage, Marked>>> = {
  "5m": new WeakMap(),
  "1h": new WeakMap(),
};

/** Undefined when the message has no end that may carry a marker. */
export function markedMessage(message: BaseMessage, ttl: CacheTtl): BaseMessage | undefined {
  const kept = markedMessages[ttl];
  const known = kept.get(message);
  if (known !== undefined && known.source === message.content) return known.message;
  const marked = ToolMessage.isInstance(message) ? markedResult(message, ttl) : markedInput(message, ttl);
  kept.set(message, { source: message.content, message: marked });
  return marked;
}

const MARKABLE = new Set(["text", "image", "image_url", "file", "document"]);

function markedInput(message: BaseMessage, ttl: CacheTtl): BaseMessage | undefined {
  const blocks = blocksOf(message.content);
  const last = blocks.at(-1);
  if (last === undefined || !MARKABLE.has(last.type) || "source_type" in last || isEmptyText(last))
    return undefined;
  const content = [...blocks.slice(0, -1), { ...last, cache_control: MARKERS[ttl] }];
  const { id, name, additional_kwargs, response_metadata } = message;
  const Message = message.constructor as new (fields: object) => BaseMessage;
  return new Message({ ...message.lc_kwargs, id, name, additional_kwargs, response_metadata, content });
}

/**
 * In the form the provider takes it: LangChain's client has no place for a marker on a result, and the provider
 * takes none inside of one.
 */
function markedResult(message: ToolMessage, ttl: CacheTtl): BaseMessage | undefined {
  const { content } = message;
  const inner = typeof content === "string" ? content : content.map(wireBlock);
  if (Array.isArray(inner) && (inner.length === 0 || inner.includes(undefined))) return undefined;
  const block = {
    type: "tool_result",
    content: inner,
    tool_use_id: message.tool_call_id,
    cache_control: MARKERS[ttl],
  };
  return new HumanMessage({ id: message.id, content: [block] as never });
}

/** A block of a result as LangChain's client would send it; undefined: not known. */
function wireBlock(block: ContentBlock): ContentBlock | undefined {
  if (block.type === "text") return { type: "text", text: block.text };
  const { data, url, mimeType } = block as { data?: unknown; url?: unknown; mimeType?: unknown };
  const isPicture = block.type === "image";
  if ((!isPicture && block.type !== "file") || "source_type" in block || typeof mimeType !== "string")
    return undefined;
  if (url !== undefined || typeof data !== "string") return undefined;
  return {
    type: isPicture ? "image" : "document",
    source: { type: "base64", media_type: mimeType, data },
  };
}

function blocksOf(content: BaseMessage["content"]): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content as Block[]);
}

/** The provider refuses a marker on it. */
function isEmptyText(block: ContentBlock): boolean {
  return block.type === "text" && String(block.text ?? "").trim() === "";
}

/** Facts about tools in LangChain's client for Anthropic. */
interface AnthropicClient {
  formatStructuredToolToAnthropic?(tools: readonly unknown[]): readonly object[] | undefined;
}

export function isAnthropicClient(model: ChatModel): boolean {
  return typeof (model as AnthropicClient).formatStructuredToolToAnthropic === "function";
}

const markedTools: Readonly<Record<CacheTtl, WeakMap<object, object>>> = {
  "5m": new WeakMap(),
  "1h": new WeakMap(),
};

/** Undefined for a tool that may not be marked, or is not sent at all. */
export function markedTool(tool: unknown, model: ChatModel, ttl: CacheTtl): object | undefined {
  const known = markedTools[ttl].get(tool as object);
  if (known !== undefined) return known;
  const sent = (model as AnthropicClient).formatStructuredToolToAnthropic?.([tool])?.[0];
  if (sent === undefined || (sent as { defer_loading?: unknown }).defer_loading === true) return undefined;
  const marked = { ...sent, cache_control: MARKERS[ttl] };
  markedTools[ttl].set(tool as object, marked);
  return marked;
}

const NONE: readonly CacheTtl[] = [];
const ownOfContent = new WeakMap<object, readonly CacheTtl[]>();

/** The cache markers that other code put into a message. */
export function ownMarkers(message: BaseMessage): readonly CacheTtl[] {
  const { content } = message;
  if (typeof content === "string") return NONE;
  const known = ownOfContent.get(content);
  if (known !== undefined) return known;
  const found = content.flatMap((block) => {
    const { cache_control, metadata } = block as Block & { metadata?: { cache_control?: CacheMarker } };
    return ttlOf(cache_control ?? metadata?.cache_control);
  });
  const own = found.length > 0 ? found : NONE;
  ownOfContent.set(content, own);
  return own;
}

/** The same for a tool. */
export function ownMarkerOfTool(tool: unknown): readonly CacheTtl[] {
  const { cache_control, extras } = tool as Block & {
    extras?: { cache_control?: CacheMarker; providerToolDefinition?: Block };
  };
  return ttlOf(cache_control ?? extras?.cache_control ?? extras?.providerToolDefinition?.cache_control);
}

export function ttlOf(marker: unknown): readonly CacheTtl[] {
  if (typeof marker !== "object" || marker === null) return NONE;
  return [(marker as CacheMarker).ttl === "1h" ? "1h" : "5m"];
}
