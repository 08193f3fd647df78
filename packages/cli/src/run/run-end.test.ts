import { expect, it } from "vitest";
import { endWords, exitCodeOf, type RunEnd } from "./run-end.ts";

const outcome = (kind: string, detail?: string): RunEnd => ({ kind: "outcome", outcome: { kind, detail } });

it.each<[RunEnd, number, string]>([
  [outcome("done"), 0, "done"],
  [outcome("length", "cut"), 3, "stopped at a limit: cut"],
  [outcome("budget"), 3, "stopped at the budget"],
  [outcome("loop"), 3, "stopped: the agent went in circles"],
  [outcome("content_filter", "safety"), 1, "failed: the provider's filter stopped the reply: safety"],
  [outcome("refusal", "no"), 1, "failed: the model declined: no"],
  [outcome("empty"), 1, "failed: the model gave no answer"],
  [{ kind: "approval", questions: 1 }, 4, "waits for approval: 1 question is open"],
  [{ kind: "failed", error: new Error("x") }, 1, "failed: words"],
  [{ kind: "stopped", by: "SIGINT" }, 130, "interrupted"],
  [{ kind: "stopped", by: "SIGTERM" }, 143, "terminated"],
  [{ kind: "stopped", by: "timeout" }, 3, "stopped: the time given with --timeout is over"],
])("%o ends with %i", (end, code, words) => {
  expect(exitCodeOf(end)).toBe(code);
  expect(endWords(end, "words")).toContain(words);
});
