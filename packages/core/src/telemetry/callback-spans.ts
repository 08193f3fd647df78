/**
 * Spans for what happens inside a call but not in our loop: in graphs that are not ours, and where a tool asks a model
 * itself. It is heard through LangChain's callbacks, which are listened to inside of calls only.
 */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { CallbackManager, Callbacks } from "@langchain/core/callbacks/manager";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
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

type Metadata = Readonly<Record<string, unknown>> | undefined;

/** One position listens at a time: the innermost one hears it. */
export function withSpanCallbacks(callbacks: Callbacks | undefined, beginner: SpanStarter): Callbacks {
  const handler = new CallbackSpans(beginner);
  const others = withoutSpanCallbacks(callbacks) ?? [];
  return Array.isArray(others) ? [...others, handler] : (others as CallbackManager).copy([handler]);
}

/** Without anybody who listens here; the same where nobody does. */
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

class CallbackSpans extends BaseCallbackHandler {
  override readonly name = "deepwright_telemetry";
  override readonly awaitHandlers = true;
  override readonly ignoreChain = true;
  override readonly ignoreRetriever = true;
  override readonly ignoreCustomEvent = true;
  readonly #beginner: SpanStarter;
  readonly #open = new Map<string, SpanRecord>();

  constructor(beginner: SpanStarter) {
    super();
    this.#beginner = beginner;
  }

  override handleChatModelStart(
    _: unknown,
    messages: BaseMessage[][],
    runId: string,
    ...[, , , metadata]: [string?, Record<string, unknown>?, string[]?, Record<string, unknown>?]
  ): void {
    if (tracedModelTasks.has(namespaceIn(metadata))) return;
    const names = modelNames(`${metadata?.ls_provider ?? ""}:${metadata?.ls_model_name ?? ""}`);
    this.#open.set(runId, this.#beginner.beginAsk(names, undefined, messages.flat()).record);
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const reply = (generations[0]?.[0] as { message?: unknown } | undefined)?.message;
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
    ...[, , metadata, runName, callId]: [string?, string[]?, Record<string, unknown>?, string?, string?]
  ): void {
    if (tracedToolTasks.has(namespaceIn(metadata))) return;
    const record = this.#beginner.beginCall(runName ?? tool.name ?? tool.id?.at(-1), callId, input).record;
    if (record !== undefined) this.#open.set(runId, record);
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const { tool_call_id: id } = (output ?? {}) as { tool_call_id?: string };
    this.#end(runId, (record) => record.returned(output, id));
  }

  override handleToolError(error: unknown, runId: string): void {
    this.#end(runId, (record) => record.threw(error, undefined));
  }

  #end(runId: string, tell: (record: SpanRecord) => void): void {
    const record = this.#open.get(runId);
    if (record === undefined) return;
    this.#open.delete(runId);
    tell(record);
    record.end();
  }
}

function namespaceIn(metadata: Metadata): string {
  return String(metadata?.langgraph_checkpoint_ns ?? "");
}
