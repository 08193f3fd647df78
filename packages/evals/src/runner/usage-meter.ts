/** Listens to the model calls of a trial: usage, requests, replies, and the limits of the case. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Serialized } from "@langchain/core/load/serializable";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { type AnyRequest, firstDifference, requestBytes } from "deepwright/testing";
import type { CaseLimits } from "../format/eval-case.ts";
import type { CallRecord } from "../verifiers/verifier.ts";
import type { TrialUsage } from "./trial-record.ts";

/** Tokens of one call. `input` includes those that came from a cache or were written to one. */
export interface CallTokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Dollars of a call; undefined where the model has no known price. */
export type Priced = (model: string, tokens: CallTokens) => number | undefined;

export interface MeteredReply {
  readonly message: AIMessage;
  /** Messages of the request it answers. */
  readonly requestMessages: number;
}

/** The trial used more than the case allows. */
export class LimitReached extends Error {
  override readonly name = "LimitReached";
}

export class UsageMeter extends BaseCallbackHandler {
  override readonly name = "UsageMeter";
  override awaitHandlers = true;
  readonly replies: MeteredReply[] = [];
  private readonly requests: AnyRequest[] = [];
  private readonly open = new Map<string, AnyRequest>();
  private readonly results = new Map<string, ToolMessage>();
  private readonly limits: CaseLimits;
  private readonly onLimit: (reason: LimitReached) => void;
  private readonly price: Priced;
  private input = 0;
  private output = 0;
  private cacheRead = 0;
  private cost = 0;
  private unpriced = 0;

  constructor(limits: CaseLimits, onLimit: (reason: LimitReached) => void, price: Priced = () => undefined) {
    super();
    this.limits = limits;
    this.onLimit = onLimit;
    this.price = price;
  }

  override handleChatModelStart(
    _model: Serialized,
    [messages = []]: BaseMessage[][],
    runId: string,
    _parent?: string,
    extra?: Record<string, unknown>,
  ): void {
    const { tools } = (extra?.options ?? {}) as { tools?: readonly unknown[] };
    const request = { messages: [...messages], tools };
    this.requests.push(request);
    this.open.set(runId, request);
    this.noteResults(messages);
    if (this.replies.length < this.limits.modelCalls) return;
    this.stop(`it used up its ${this.limits.modelCalls} model calls`);
  }

  override handleLLMEnd(result: LLMResult, runId: string): void {
    const generation = result.generations[0]?.[0] as { message?: BaseMessage } | undefined;
    const message = generation?.message;
    if (message === undefined || !AIMessage.isInstance(message)) return;
    this.replies.push({ message, requestMessages: this.open.get(runId)?.messages?.length ?? 0 });
    this.open.delete(runId);
    this.charge(message);
    const { tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = this.limits;
    if (this.tokens > tokens) this.stop(`it used up its ${tokens} tokens`);
    if (this.cost > cost) this.stop(`it used up its $${cost}`);
  }

  get tokens(): number {
    return this.input + this.output;
  }

  /** Results may also stand in the final messages only. */
  noteResults(messages: readonly BaseMessage[]): void {
    for (const message of messages)
      if (ToolMessage.isInstance(message)) this.results.set(message.tool_call_id, message);
  }

  /** All calls that replies made, those that did not parse too. */
  calls(): CallRecord[] {
    return this.replies.flatMap(({ message }) => [
      ...(message.tool_calls ?? []).map(({ id, name, args }) => this.call(id, name, args)),
      ...(message.invalid_tool_calls ?? []).map(({ id, name }) => this.call(id, name ?? "", {})),
    ]);
  }

  usage(): Omit<TrialUsage, "invalidRequests" | "lostEdits"> {
    const sent = this.requests.reduce((sum, request) => sum + requestBytes(request), 0);
    return {
      modelCalls: this.replies.length,
      inputTokens: this.input,
      outputTokens: this.output,
      cacheReadTokens: this.cacheRead,
      cost: this.unpriced > 0 ? undefined : this.cost,
      requestBytes: sent,
      prefixBytes: this.prefixBytes(),
    };
  }

  private call(id: string | undefined, name: string, args: Record<string, unknown>): CallRecord {
    const result = this.results.get(id ?? "");
    const text = result === undefined ? undefined : result.text;
    return {
      name,
      args,
      result: text,
      failed: result?.status === "error" || /^(Error|Failed)\b/.test(text ?? ""),
    };
  }

  /** Bytes of each request that are the beginning of the latest earlier request with the same tools. */
  private prefixBytes(): number {
    return this.requests.reduce((sum, request, index) => {
      const earlier = this.requests.slice(0, index).findLast((other) => hasSameTools(other, request));
      if (earlier === undefined) return sum;
      return sum + (firstDifference(earlier, request)?.offset ?? requestBytes(earlier));
    }, 0);
  }

  private charge(message: AIMessage): void {
    const { input_tokens = 0, output_tokens = 0, input_token_details } = message.usage_metadata ?? {};
    this.input += input_tokens;
    this.output += output_tokens;
    const { cache_read: cacheRead = 0, cache_creation: cacheWrite = 0 } = input_token_details ?? {};
    this.cacheRead += cacheRead;
    const tokens = { input: input_tokens, output: output_tokens, cacheRead, cacheWrite };
    const dollars = this.price(modelNameOf(message), tokens);
    if (dollars === undefined) this.unpriced += 1;
    else this.cost += dollars;
  }

  /** The signal of the trial ends the call that goes too far. */
  private stop(reason: string): void {
    this.onLimit(new LimitReached(reason));
  }
}

function modelNameOf(message: AIMessage): string {
  const { model_name, model } = (message.response_metadata ?? {}) as { model_name?: string; model?: string };
  return model_name ?? model ?? "";
}

function hasSameTools(one: AnyRequest, other: AnyRequest): boolean {
  return (one.tools?.length ?? 0) === (other.tools?.length ?? 0);
}
