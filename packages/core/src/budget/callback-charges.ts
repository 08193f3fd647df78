/**
 * Model calls that do not pass through the loop: of graphs that are not ours, of tools and of hooks. What they used
 * is counted when they are answered; nothing is reserved for them, since nobody asks first.
 */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { ActiveTasks } from "../loop/task/active-tasks.ts";
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

/** Listens to all calls of a run and of the runs inside it, and charges those nobody else does. */
export class CallbackCharges extends BaseCallbackHandler {
  override readonly name = "deepwright_budget";
  override readonly awaitHandlers = true;
  override readonly ignoreChain = true;
  override readonly ignoreAgent = true;
  override readonly ignoreRetriever = true;
  override readonly ignoreCustomEvent = true;
  readonly #ledger: Ledger;
  readonly #open = new Map<string, OpenCall>();

  constructor(ledger: Ledger) {
    super();
    this.#ledger = ledger;
  }

  override handleChatModelStart(
    _: unknown,
    messages: BaseMessage[][],
    runId: string,
    ...[, , , metadata]: [string?, Record<string, unknown>?, string[]?, Record<string, unknown>?]
  ): void {
    const { langgraph_checkpoint_ns: namespace = "", ls_model_name: model = "" } = metadata ?? {};
    if (chargedTasks.has(String(namespace))) return;
    const inputTokens = messages.flat().reduce((sum, { text }) => sum + estimateTokens(text), 0);
    this.#open.set(runId, { namespace: String(namespace), model: String(model), inputTokens });
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const call = this.#open.get(runId);
    if (!this.#open.delete(runId) || call === undefined) return;
    const reply = (generations[0]?.[0] as { message?: unknown } | undefined)?.message;
    if (!AIMessage.isInstance(reply)) return;
    const price = this.#ledger.priceOf(call.model);
    if (price === undefined && this.#ledger.limitsCost) this.#ledger.unpricedModel ??= call.model;
    const usage = usageOfReply(reply, price, call.inputTokens);
    this.#ledger.chargeAt(call.namespace, ofModel(call.model, usage));
  }

  override handleLLMError(_: unknown, runId: string): void {
    this.#open.delete(runId);
  }
}
