/**
 * Spans for calls that do not pass through our loop: in graphs that are not ours, and in tools that ask a model
 * themselves. A listener to LangChain's callbacks is added inside of calls only.
 */
import type { CallbackManager, Callbacks } from "@langchain/core/callbacks/manager";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import {
  CallListener,
  type CallMetadata,
  messageOfReply,
  namespaceOfCall,
} from "../loop/task/call-listener.ts";
import { type ModelNames, modelNames } from "./attributes.ts";
import type { SpanRecord } from "./span-record.ts";
import { tracedModelTasks, tracedToolTasks } from "./traced-tasks.ts";

/** Begins spans at a position of a tree. */
export interface SpanStarter {
  beginAsk(
    names: ModelNames,
    attributes: undefined,
    messages: readonly BaseMessage[],
  ): { readonly record: SpanRecord };
  beginCall(
    name: string | undefined,
    id: string | undefined,
    args: unknown,
  ): { readonly record: SpanRecord | undefined };
}

/** Replaces the listener of an outer position: only the innermost position writes spans. */
export function withSpanCallbacks(callbacks: Callbacks | undefined, starter: SpanStarter): Callbacks {
  const handler = new CallbackSpans(starter);
  const others = withoutSpanCallbacks(callbacks) ?? [];
  return Array.isArray(others) ? [...others, handler] : (others as CallbackManager).copy([handler]);
}

/** The callbacks without a listener of ours; the same object when there is none. */
export function withoutSpanCallbacks(callbacks: Callbacks | undefined): Callbacks | undefined {
  const handlers = Array.isArray(callbacks) ? callbacks : ((callbacks as CallbackManager)?.handlers ?? []);
  if (!handlers.some(isOwn)) return callbacks;
  if (Array.isArray(callbacks)) return callbacks.filter((handler) => !isOwn(handler));
  const manager = (callbacks as CallbackManager).copy();
  for (const handler of manager.handlers.filter(isOwn)) manager.removeHandler(handler);
  return manager;
}

function isOwn(handler: unknown): boolean {
  return handler instanceof CallbackSpans;
}

class CallbackSpans extends CallListener<SpanRecord> {
  override readonly name = "deepwright_telemetry";
  readonly #starter: SpanStarter;

  constructor(starter: SpanStarter) {
    super();
    this.#starter = starter;
  }

  override handleChatModelStart(
    _: unknown,
    messages: BaseMessage[][],
    runId: string,
    ...[, , , metadata]: [string?, CallMetadata?, string[]?, CallMetadata?]
  ): void {
    if (tracedModelTasks.has(namespaceOfCall(metadata))) return;
    const names = modelNames(`${metadata?.ls_provider ?? ""}:${metadata?.ls_model_name ?? ""}`);
    this.open.set(runId, this.#starter.beginAsk(names, undefined, messages.flat()).record);
  }

  override handleLLMEnd(result: LLMResult, runId: string): void {
    const reply = messageOfReply(result);
    this.#end(runId, (record) => {
      if (AIMessage.isInstance(reply)) record.replied(reply);
    });
  }

  override handleLLMError(error: unknown, runId: string): void {
    this.#end(runId, (record) => record.threw(error, undefined));
  }

  override handleToolStart(
    tool: { readonly id?: readonly string[]; readonly name?: string },
    input: string,
    runId: string,
    ...[, , metadata, runName, callId]: [string?, string[]?, CallMetadata?, string?, string?]
  ): void {
    if (tracedToolTasks.has(namespaceOfCall(metadata))) return;
    const record = this.#starter.beginCall(runName ?? tool.name ?? tool.id?.at(-1), callId, input).record;
    if (record !== undefined) this.open.set(runId, record);
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const { tool_call_id: id } = (output ?? {}) as { tool_call_id?: string };
    this.#end(runId, (record) => record.returned(output, id));
  }

  override handleToolError(error: unknown, runId: string): void {
    this.#end(runId, (record) => record.threw(error, undefined));
  }

  #end(runId: string, note: (record: SpanRecord) => void): void {
    const record = this.take(runId);
    if (record === undefined) return;
    note(record);
    record.end();
  }
}
