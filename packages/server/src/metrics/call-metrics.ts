/** Hears model calls and tool calls of a run through LangChain's callbacks, in subagents and in graphs of others too. */
import type { UsageMetadata } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { CallListener, type CallMetadata, messageOfReply } from "deepwright/internal";

export interface MeasuredCall {
  readonly seconds: number;
  /** `asked`: the call waits for a person. */
  readonly result: "ok" | "error" | "asked";
}

export interface MeasuredModelCall extends MeasuredCall {
  readonly usage?: UsageMetadata | undefined;
}

/** Counts calls. */
export interface CallCounts {
  askedModel(name: string, call: MeasuredModelCall): void;
  calledTool(name: string, call: MeasuredCall): void;
}

export class CallMetrics extends CallListener<{ readonly name: string; readonly begun: number }> {
  override readonly name = "deepwright_metrics";
  readonly #counts: CallCounts;

  constructor(counts: CallCounts) {
    super();
    this.#counts = counts;
  }

  override handleChatModelStart(
    _model: unknown,
    _messages: unknown,
    runId: string,
    ...[, , , metadata]: [string?, CallMetadata?, string[]?, CallMetadata?]
  ): void {
    this.#begin(runId, String(metadata?.ls_model_name ?? "other"));
  }

  override handleLLMEnd(result: LLMResult, runId: string): void {
    const message = messageOfReply(result) as { readonly usage_metadata?: UsageMetadata } | undefined;
    this.#end(runId, (name, seconds) =>
      this.#counts.askedModel(name, { seconds, result: "ok", usage: message?.usage_metadata }),
    );
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#end(runId, (name, seconds) => this.#counts.askedModel(name, { seconds, result: "error" }));
  }

  override handleToolStart(
    tool: { readonly id?: readonly string[]; readonly name?: string },
    _input: string,
    runId: string,
    ...[, , , runName]: [string?, string[]?, CallMetadata?, string?]
  ): void {
    this.#begin(runId, runName ?? tool.name ?? tool.id?.at(-1) ?? "other");
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const { status } = (output ?? {}) as { readonly status?: unknown };
    const result = status === "error" ? "error" : "ok";
    this.#end(runId, (name, seconds) => this.#counts.calledTool(name, { seconds, result }));
  }

  override handleToolError(error: unknown, runId: string): void {
    // A call that waits for approval has not failed.
    const isQuestion = (error as { readonly name?: unknown } | null)?.name === "GraphInterrupt";
    const result = isQuestion ? "asked" : "error";
    this.#end(runId, (name, seconds) => this.#counts.calledTool(name, { seconds, result }));
  }

  #begin(runId: string, name: string): void {
    this.open.set(runId, { name, begun: performance.now() });
  }

  #end(runId: string, count: (name: string, seconds: number) => void): void {
    const call = this.take(runId);
    if (call === undefined) return;
    count(call.name, (performance.now() - call.begun) / 1_000);
  }
}
