/** Pieces of streamed messages as content blocks: each begins, grows and ends, one after the other. */
import { isRecord } from "deepwright/check-options";

/** Data of one event of the channel `messages`. */
export type MessageData = { readonly event: string } & Readonly<Record<string, unknown>>;

interface Part {
  readonly kind: "text" | "reasoning" | "tool";
  /** Tells blocks of one kind apart. */
  readonly key: string;
  readonly text: string;
  readonly id?: string;
  readonly name?: string;
}

interface OpenBlock {
  readonly kind: Part["kind"];
  readonly key: string;
  readonly index: number;
  text: string;
  id: string | null;
  name: string | null;
}

interface OpenMessage {
  blocks: number;
  block: OpenBlock | undefined;
  usage: Record<string, number> | undefined;
}

export class MessageBlocks {
  readonly #open = new Map<string, OpenMessage>();
  readonly #ended = new Set<string>();

  /** A piece of a message of the model, or a whole one. Others are in the values. */
  *piece(piece: unknown, metadata: unknown): Generator<MessageData> {
    if (!isRecord(piece) || typeof piece.id !== "string") return;
    const { id, type } = piece;
    if ((type !== "AIMessageChunk" && type !== "ai") || this.#ended.has(id)) return;
    let message = this.#open.get(id);
    // A whole message after its pieces adds nothing.
    if (message !== undefined && type === "ai") return yield* this.#finish(id, message);
    if (message === undefined) {
      message = { blocks: 0, block: undefined, usage: undefined };
      this.#open.set(id, message);
      yield { event: "message-start", role: "ai", id, metadata: modelOf(metadata) };
    }
    for (const part of partsOf(piece)) yield* grow(message, part);
    addUsage(message, piece.usage_metadata);
    if (type === "ai") yield* this.#finish(id, message);
  }

  /** The step has ended: so have its messages. */
  *finishAll(): Generator<MessageData> {
    for (const [id, message] of [...this.#open]) yield* this.#finish(id, message);
  }

  *#finish(id: string, message: OpenMessage): Generator<MessageData> {
    this.#open.delete(id);
    this.#ended.add(id);
    yield* closeBlock(message);
    yield { event: "message-finish", ...(message.usage && { usage: message.usage }) };
  }
}

function* grow(message: OpenMessage, { kind, key, text, id, name }: Part): Generator<MessageData> {
  let { block } = message;
  if (block === undefined || block.kind !== kind || block.key !== key) {
    yield* closeBlock(message);
    block = { kind, key, index: message.blocks++, text: "", id: id ?? null, name: name ?? null };
    message.block = block;
    yield { event: "content-block-start", index: block.index, content: contentOf(block) };
  }
  block.text += text;
  block.id ??= id ?? null;
  block.name ??= name ?? null;
  if (text === "" || kind === "tool") return;
  const delta = kind === "text" ? { type: "text-delta", text } : { type: "reasoning-delta", reasoning: text };
  yield { event: "content-block-delta", index: block.index, delta };
}

function* closeBlock(message: OpenMessage): Generator<MessageData> {
  const { block } = message;
  if (block === undefined) return;
  message.block = undefined;
  const content = block.kind === "tool" ? callOf(block) : contentOf(block);
  yield { event: "content-block-finish", index: block.index, content };
}

function contentOf({ kind, text, id, name }: OpenBlock): object {
  if (kind === "text") return { type: "text", text };
  return kind === "reasoning"
    ? { type: "reasoning", reasoning: text }
    : { type: "tool_call_chunk", id, name, args: text };
}

/** Arguments come whole, at the end: a reader could do nothing with half of them. */
function callOf({ text, id, name }: OpenBlock): object {
  try {
    const args: unknown = JSON.parse(text || "{}");
    if (isRecord(args)) return { type: "tool_call", id, name: name ?? "", args };
  } catch {
    // The model wrote something else than JSON.
  }
  return { type: "invalid_tool_call", id, name, args: text, error: "Malformed args." };
}

function partsOf({
  content,
  tool_call_chunks: chunks,
  tool_calls: calls,
  type,
}: Record<string, unknown>): Part[] {
  const blocks = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const texts = blocks.filter(isRecord).flatMap(textPart);
  if (type === "ai")
    return [
      ...texts,
      ...records(calls).map((call) => toolPart({ ...call, args: JSON.stringify(call.args ?? {}) })),
    ];
  return [...texts, ...records(chunks).map(toolPart)];
}

function textPart(block: Record<string, unknown>): Part[] {
  const key = String(block.index ?? "");
  const part = (kind: "text" | "reasoning", text: unknown): Part[] =>
    typeof text === "string" && text !== "" ? [{ kind, key, text }] : [];
  if (block.type === "reasoning") return part("reasoning", block.reasoning);
  return block.type === "thinking" ? part("reasoning", block.thinking) : part("text", block.text);
}

function toolPart({ index, id, name, args }: Record<string, unknown>): Part {
  return {
    kind: "tool",
    key: String(index ?? id ?? ""),
    text: typeof args === "string" ? args : "",
    ...(typeof id === "string" && { id }),
    ...(typeof name === "string" && { name }),
  };
}

const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** Providers tell a part of the usage at the beginning and the rest at the end. */
function addUsage(message: OpenMessage, usage: unknown): void {
  if (!isRecord(usage)) return;
  const sums = message.usage ?? {};
  for (const name of ["input_tokens", "output_tokens", "total_tokens"])
    sums[name] = (sums[name] ?? 0) + (typeof usage[name] === "number" ? usage[name] : 0);
  message.usage = sums;
}

function modelOf(metadata: unknown): object {
  const { ls_provider: provider, ls_model_name: model } = isRecord(metadata) ? metadata : {};
  return {
    ...(typeof provider === "string" && { provider }),
    ...(typeof model === "string" && { model }),
  };
}
