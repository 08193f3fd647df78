/** A streamed message that is shown with all that came so far. */

export interface Piece {
  readonly id?: string;
  readonly content?: unknown;
  readonly tool_call_chunks?: readonly { readonly args?: string }[];
  concat?(other: unknown): Piece;
}

/** A longer message is shown again when it has grown by a part of itself, so that a long one costs no quadratic time. */
const SHORT = 8_192;
const PART = 1 / 64;

export class GrowingMessage {
  #whole: Piece | undefined;
  #size = 0;
  /** Pieces that are not in `#whole` yet. */
  #tail: Piece | undefined;
  #tailSize = 0;

  /** The message so far; undefined where it is shown with a later piece, or when it is complete. */
  add(piece: Piece): Piece | undefined {
    this.#tail = this.#tail?.concat?.(piece) ?? piece;
    this.#tailSize += sizeOf(piece);
    if (this.#size > SHORT && this.#tailSize < this.#size * PART) return undefined;
    this.#whole = this.#whole?.concat?.(this.#tail) ?? this.#tail;
    this.#size += this.#tailSize;
    this.#tail = undefined;
    this.#tailSize = 0;
    return this.#whole;
  }
}

function sizeOf({ content, tool_call_chunks: calls = [] }: Piece): number {
  const text = typeof content === "string" ? content : (JSON.stringify(content) ?? "");
  return calls.reduce((sum, { args }) => sum + (args?.length ?? 0), text.length);
}
