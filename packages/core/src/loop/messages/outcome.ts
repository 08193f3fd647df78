/** How a run ended, read off the model's last message. */
import type { AIMessage } from "@langchain/core/messages";
import { isReasoning, isSilent } from "./request.ts";
import type { RunUsage } from "./run-usage.ts";

export type OutcomeKind =
  | "done"
  | "length"
  | "content_filter"
  | "refusal"
  | "empty"
  | "budget"
  | "loop"
  /** The model had nothing more to do, and a completion check of its todo list failed. */
  | "unverified";

/** `invoke` resolves with it and does not throw: a reply that was cut off is still a reply. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly detail?: string;
  /** The agent that was stopped: names from the outermost one's child down, `[]` for the outermost itself. */
  readonly agentPath?: readonly string[];
  /** Amount at the limit that stopped the run: tokens, dollars, model calls, seconds, or repetitions. */
  readonly used?: number;
  readonly allowed?: number;
  /** Usage of the run with all inner runs; for agents with a budget. */
  readonly usage?: RunUsage;
}

const LENGTH = new Set(["length", "max_tokens", "max_output_tokens", "model_length"]);
const FILTERED = new Set([
  "content_filter",
  "safety",
  "recitation",
  "blocklist",
  "prohibited_content",
  "spii",
  "image_safety",
  "guardrail_intervened",
]);

/** The provider's reason to stop, in lower case; undefined when it gave none. */
export function stopReason(message: AIMessage): string | undefined {
  const metadata = (message.response_metadata ?? {}) as Record<string, unknown>;
  const incomplete = metadata.incomplete_details as { reason?: string } | null | undefined;
  const extra = (message.additional_kwargs ?? {}) as Record<string, unknown>;
  const reason =
    incomplete?.reason ??
    metadata.finish_reason ??
    metadata.stop_reason ??
    metadata.finishReason ??
    metadata.stopReason ??
    metadata.done_reason ??
    extra.stop_reason;
  return typeof reason === "string" ? reason.toLowerCase() : undefined;
}

export function wasCutByLength(message: AIMessage): boolean {
  return LENGTH.has(stopReason(message) ?? "");
}

/** Whether the provider marked the reply as complete. A stream that broke off has no such mark. */
export function wasFinished(message: AIMessage): boolean {
  const { status, messageStop } = (message.response_metadata ?? {}) as Record<string, unknown>;
  return stopReason(message) !== undefined || status !== undefined || messageStop !== undefined;
}

/** The outcome of a run that ends with `message`. A message that still calls tools counts as done. */
export function outcomeOf(message: AIMessage | undefined): Outcome {
  if (message === undefined) return { kind: "empty", detail: "The model was not asked." };
  if ((message.tool_calls ?? []).length > 0) return { kind: "done" };
  const reason = stopReason(message) ?? "";
  if (LENGTH.has(reason))
    return { kind: "length", detail: "The reply was cut off at the model's output limit." };
  if (FILTERED.has(reason))
    return { kind: "content_filter", detail: `The provider stopped the reply (${reason}).` };
  const refusal = refusalOf(message, reason);
  if (refusal !== undefined) return { kind: "refusal", detail: refusal };
  if (isSilent(message)) return { kind: "empty", detail: silence(message) };
  return { kind: "done" };
}

function refusalOf(message: AIMessage, reason: string): string | undefined {
  const said = (message.additional_kwargs as { refusal?: unknown } | undefined)?.refusal;
  if (typeof said === "string" && said !== "") return said;
  if (reason === "refusal") return "The model declined to answer.";
  if (!Array.isArray(message.content)) return undefined;
  const block = message.content.find((part) => part.type === "refusal") as { refusal?: string } | undefined;
  return block ? (block.refusal ?? "The model declined to answer.") : undefined;
}

function silence(message: AIMessage): string {
  const thought = Array.isArray(message.content) && message.content.some(isReasoning);
  return thought ? "The model thought but said nothing." : "The model's reply was empty.";
}
