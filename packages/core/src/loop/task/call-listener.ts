/** Listens through LangChain's callbacks to the model and tool calls of a run, in subagents and in graphs of others too. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { LLMResult } from "@langchain/core/outputs";

/** Metadata that LangChain hands to a callback. */
export type CallMetadata = Readonly<Record<string, unknown>>;

/** `Call` is the data that a listener keeps of a call until the call ends. Runs wait for their listeners. */
export abstract class CallListener<Call> extends BaseCallbackHandler {
  override readonly awaitHandlers = true;
  override readonly ignoreChain = true;
  override readonly ignoreRetriever = true;
  override readonly ignoreCustomEvent = true;
  protected readonly open = new Map<string, Call>();

  /** Removes and returns an open call; undefined for a call that this listener skipped. */
  protected take(runId: string): Call | undefined {
    const call = this.open.get(runId);
    this.open.delete(runId);
    return call;
  }
}

/** The message of a model's reply. Completion models give none. */
export function messageOfReply({ generations }: LLMResult): unknown {
  return (generations[0]?.[0] as { readonly message?: unknown } | undefined)?.message;
}

/** The checkpoint namespace of the task in which the call runs; empty outside of graphs. */
export function namespaceOfCall(metadata: CallMetadata | undefined): string {
  return String(metadata?.langgraph_checkpoint_ns ?? "");
}
