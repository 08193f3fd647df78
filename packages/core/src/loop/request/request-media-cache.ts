/** Messages as they were sent, so that they are sent the same way again; of media only so much is kept. */
import type { BaseMessage, ContentBlock } from "@langchain/core/messages";

export interface RenderedMessage {
  /** Content that was rendered: a message may be edited in place. */
  readonly source: BaseMessage["content"];
  readonly message: BaseMessage;
  /** Blocks after the results of the turn. */
  readonly behind: readonly ContentBlock[];
  /** Characters of media that were fetched for it. */
  readonly weight: number;
}

/** Characters of base64, one byte each. */
const DEFAULT_CAPACITY = 64 * 1024 * 1024;

export class RenderedMessages {
  readonly #kept = new WeakMap<BaseMessage, Map<string, RenderedMessage>>();
  /** Messages with weight, the most recently used one last. */
  readonly #heavy = new Map<RenderedMessage, () => void>();
  readonly #capacity: number;
  #weight = 0;

  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get(message: BaseMessage, key: string): RenderedMessage | undefined {
    const known = this.#kept.get(message)?.get(key);
    if (known?.source !== message.content) return undefined;
    const drop = this.#heavy.get(known);
    if (drop !== undefined) {
      this.#heavy.delete(known);
      this.#heavy.set(known, drop);
    }
    return known;
  }

  set(message: BaseMessage, key: string, rendered: RenderedMessage): void {
    const kept = this.#kept.get(message) ?? new Map<string, RenderedMessage>();
    this.#kept.set(message, kept);
    const before = kept.get(key);
    if (before !== undefined) this.#forget(before);
    kept.set(key, rendered);
    if (rendered.weight === 0) return;
    this.#weight += rendered.weight;
    this.#heavy.set(rendered, () => {
      if (kept.get(key) === rendered) kept.delete(key);
    });
    this.#shrink();
  }

  #shrink(): void {
    for (const oldest of this.#heavy.keys()) {
      if (this.#weight <= this.#capacity) return;
      this.#forget(oldest);
    }
  }

  #forget(rendered: RenderedMessage): void {
    const drop = this.#heavy.get(rendered);
    if (drop === undefined) return;
    this.#heavy.delete(rendered);
    this.#weight -= rendered.weight;
    drop();
  }
}
