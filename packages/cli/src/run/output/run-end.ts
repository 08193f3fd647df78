/** How a run can end, the exit code of each, and the words for it. */
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { count, grouped, seconds } from "../../terminal/amounts.ts";
import type { Ledger, Outcome } from "./ledger.ts";

export type RunEnd =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** Waits for a person; `left` when the one at the terminal wanted it so. */
  | { readonly kind: "approval"; readonly questions: number; readonly left?: boolean }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "stopped"; readonly by: StopReason };

export type StopReason = "SIGINT" | "SIGTERM" | "timeout" | "closed";

const LIMITS = new Set(["length", "budget", "loop"]);

/** `denied` counts calls that did not run because no person could approve them. */
export function exitCodeOf(end: RunEnd, denied = 0): ExitCode {
  if (end.kind === "approval") return end.left ? EXIT.interrupted : EXIT.approval;
  if (end.kind === "failed") return EXIT.failed;
  if (end.kind === "stopped") return STOPPED[end.by];
  if (end.outcome.kind === "done") return denied > 0 ? EXIT.approval : EXIT.done;
  if (end.outcome.kind === "unverified") return EXIT.unverified;
  return LIMITS.has(end.outcome.kind) ? EXIT.limit : EXIT.failed;
}

const STOPPED: Readonly<Record<StopReason, ExitCode>> = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  timeout: EXIT.limit,
  closed: EXIT.failed,
};

/** The text about an end; `failure` is the text of the error. */
export function endWords(end: RunEnd, failure = "", denied = 0): string {
  if (end.kind === "failed") return `failed: ${failure}`;
  if (end.kind === "approval")
    return `waits for approval: ${count(end.questions, "question is", "questions are")} open${end.left ? "" : ", and no person is here to answer"}`;
  if (end.kind === "stopped") return STOP_WORDS[end.by];
  const { kind, detail } = end.outcome;
  if (kind === "done" && denied > 0)
    return `done, but ${count(denied, "call was", "calls were")} denied: no person was here to approve`;
  const words = OUTCOME_WORDS.get(kind) ?? kind;
  if (!detail || kind === "done") return words;
  return kind === "loop" ? `stopped: ${detail}` : `${words}: ${detail}`;
}

const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  SIGINT: "interrupted",
  SIGTERM: "terminated",
  timeout: "stopped: the time of --timeout is over",
  closed: "stopped: the reader of the output has left",
};

const OUTCOME_WORDS: ReadonlyMap<string, string> = new Map([
  ["done", "done"],
  ["length", "stopped at a limit"],
  ["budget", "stopped at the budget"],
  ["loop", "stopped: the agent repeated the same calls"],
  ["content_filter", "failed: the provider's filter stopped the reply"],
  ["refusal", "failed: the model declined"],
  ["empty", "failed: the model gave no answer"],
  ["unverified", "not verified: the agent says it is done"],
]);

/** `3.2 s · 4 tool calls · 1,234 tokens in, 56 out`, as far as known. */
export function figures(milliseconds: number, { toolCalls, usage }: Ledger): string {
  return [
    seconds(milliseconds),
    toolCalls > 0 ? count(toolCalls, "tool call") : "",
    usage.input + usage.output > 0 ? `${grouped(usage.input)} tokens in, ${grouped(usage.output)} out` : "",
  ]
    .filter((part) => part !== "")
    .join(" · ");
}
