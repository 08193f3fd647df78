/**
 * Model calls that do not pass through the loop: calls of graphs that are not ours, of tools and of hooks. Their usage
 * is charged when they are answered. Nothing is reserved for them, because they do not ask before they start.
 */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { ActiveTasks } from "../loop/task/active-tasks.ts";
import {
  CallListener,
  type CallMetadata,
  messageOfReply,
  namespaceOfCall,
} from "../loop/task/call-listener.ts";
import { estimateTokens } from "../tokens.ts";
import type { Ledger } from "./ledger.ts";
import { ofModel, usageOfReply } from "./usage.ts";

/** Tasks that wait for a model they are charged for in the loop. */
export const chargedTasks = new ActiveTasks();

interface OpenCall {
  readonly namespace: string;
  readonly model: string;
  readonly inputTokens: number;
}

/** Listens to all calls of a run and of the runs inside it, and charges the calls that the loop does not. */
export class CallbackCharges extends CallListener<OpenCall> {
  override readonly name = "deepwright_budget";
  override readonly ignoreAgent = true;
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    super();
    this.#ledger = ledger;
  }

  override handleChatModelStart(
    _: unknown,
    messages: BaseMessage[][],
    runId: string,
    ...[, , , metadata]: [string?, CallMetadata?, string[]?, CallMetadata?]
  ): void {
    const namespace = namespaceOfCall(metadata);
    if (chargedTasks.has(namespace)) return;
    const inputTokens = messages.flat().reduce((sum, { text }) => sum + estimateTokens(text), 0);
    this.open.set(runId, { namespace, model: String(metadata?.ls_model_name ?? ""), inputTokens });
  }

  override handleLLMEnd(result: LLMResult, runId: string): void {
    const call = this.take(runId);
    const reply = messageOfReply(result);
    if (call === undefined || !AIMessage.isInstance(reply)) return;
    const price = this.#ledger.priceOf(call.model);
    if (price === undefined && this.#ledger.limitsCost) this.#ledger.unpricedModel ??= call.model;
    const usage = usageOfReply(reply, price, call.inputTokens);
    this.#ledger.chargeAt(call.namespace, ofModel(call.model, usage));
  }

  override handleLLMError(_: unknown, runId: string): void {
    this.take(runId);
  }
}
