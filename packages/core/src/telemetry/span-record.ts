/** One span that is being written: what is said in it, and how it ends. */
import { type AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { type Command, isGraphBubbleUp, isGraphInterrupt } from "@langchain/langgraph";
import { type Attributes, type Span, SpanStatusCode } from "@opentelemetry/api";
import { errorType, replyAttributes, TIMEOUT } from "./attributes.ts";
import { argumentsContent, replyContent, requestContent, resultContent } from "./content.ts";
import type { Redact, Redaction } from "./redaction.ts";

export interface RecordSettings {
  readonly captureContent: boolean;
  readonly redaction: Redaction;
}

/** Says nothing any more once it has ended. */
export class SpanRecord {
  readonly span: Span;
  readonly #settings: RecordSettings;
  #isOpen = true;
  #wasInterrupted = false;

  constructor(span: Span, settings: RecordSettings) {
    this.span = span;
    this.#settings = settings;
  }

  asks(messages: readonly BaseMessage[]): void {
    if (this.#tellsContent) this.span.setAttributes(requestContent(messages, this.#settings.redaction));
  }

  replied(reply: AIMessage): void {
    if (!this.#isOpen) return;
    this.say(replyAttributes(reply));
    if (this.#tellsContent) this.span.setAttributes(replyContent(reply, this.#settings.redaction));
  }

  calls(args: unknown): void {
    if (this.#tellsContent) this.span.setAttributes(argumentsContent(args, this.#settings.redaction));
  }

  /** A result that says the tool could not do its work is an error of the call. */
  returned(result: unknown, callId: string | undefined): void {
    const message = resultIn(result, callId);
    if (!this.#isOpen || message === undefined) return;
    if (message.status === "error") this.#fails("tool_error");
    if (this.#tellsContent) this.span.setAttributes(resultContent(message, this.#settings.redaction));
  }

  /** To ask a person is no error, nor is going elsewhere. `stop` is the signal of the run. */
  threw(error: unknown, stop: AbortSignal | undefined): void {
    if (!this.#isOpen) return;
    if (this.interrupted(error) || (error !== null && isGraphBubbleUp(error))) return;
    const type = errorType(stop?.aborted ? stop.reason : error);
    if (stop?.aborted && type !== TIMEOUT) this.#fails("aborted");
    else this.#fails(type, error);
  }

  /** Ends it as soon as `signal` fires: who is stopped may take its time to say so. Returns what calls that off. */
  endsWith(signal: AbortSignal | undefined, stop: AbortSignal | undefined): () => void {
    const stopped = (): void => {
      this.threw(signal?.reason, stop);
      this.end();
    };
    signal?.addEventListener("abort", stopped, { once: true });
    return () => signal?.removeEventListener("abort", stopped);
  }

  /** Whether the error is a question to a person; several of one run are one event. */
  interrupted(error: unknown): boolean {
    if (error === null || !isGraphInterrupt(error)) return false;
    if (this.#isOpen && !this.#wasInterrupted) this.span.addEvent("interrupt");
    this.#wasInterrupted = true;
    return true;
  }

  say(attributes: Attributes): void {
    if (this.#isOpen) this.span.setAttributes(withoutKeys(attributes, this.#settings.redaction.withoutKeys));
  }

  end(): void {
    if (this.#isOpen) this.span.end();
    this.#isOpen = false;
  }

  get #tellsContent(): boolean {
    return this.#isOpen && this.#settings.captureContent && this.span.isRecording();
  }

  /** The words of an error are content: providers and tools repeat in them what they were given. */
  #fails(type: string, error?: unknown): void {
    this.say({ "error.type": type });
    const words = this.#tellsContent && error instanceof Error ? error.message : undefined;
    this.span.setStatus({
      code: SpanStatusCode.ERROR,
      ...(words !== undefined && { message: this.#settings.redaction.content(words) }),
    });
  }
}

export function withoutKeys(attributes: Attributes, clean: Redact): Attributes {
  const cleaned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(cleaned);
    return typeof value === "string" ? clean(value) : value;
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, cleaned(value)]),
  ) as Attributes;
}

function resultIn(result: unknown, callId: string | undefined): ToolMessage | undefined {
  if (ToolMessage.isInstance(result)) return result;
  const { messages } = ((result as Command | undefined)?.update ?? {}) as { messages?: unknown };
  const found = [messages].flat().find((one) => ToolMessage.isInstance(one) && one.tool_call_id === callId);
  return found as ToolMessage | undefined;
}
