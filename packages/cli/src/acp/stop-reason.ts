/** The end of a run in the words of the protocol. Pure. */
import { RequestError, type StopReason } from "@agentclientprotocol/sdk";
import type { ShownRun } from "@deepwright/protocol";
import { safeLine } from "../terminal/safe-text.ts";

const REASONS: Readonly<Record<string, StopReason>> = {
  length: "max_tokens",
  refusal: "refusal",
  content_filter: "refusal",
  budget: "max_turn_requests",
  loop: "max_turn_requests",
};

/** Throws for a run that failed: the editor shows the words of the error. */
export function stopReason({ status, error, outcome }: ShownRun): StopReason {
  if (status === "error" || status === "timeout") {
    const words = error?.message || error?.error || "the run failed";
    throw RequestError.internalError(undefined, safeLine(words, 1_000));
  }
  if (status === "interrupted") return "cancelled";
  return REASONS[outcome?.kind ?? ""] ?? "end_turn";
}
