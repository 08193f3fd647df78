import { expect, it } from "vitest";
import { endWords, exitCodeOf, type RunEnd } from "./run-end.ts";

const outcome = (kind: string, detail?: string): RunEnd => ({ kind: "outcome", outcome: { kind, detail } });

it.each<[RunEnd, number, string]>([
  [outcome("done"), 0, "done"],
  [outcome("length", "cut"), 3, "stopped at a limit: cut"],
  [outcome("budget"), 3, "stopped at the budget"],
  [outcome("loop"), 3, "stopped: the agent repeated the same calls"],
  [outcome("loop", "It went round."), 3, "stopped: It went round."],
  [outcome("content_filter", "safety"), 1, "failed: the provider's filter stopped the reply: safety"],
  [outcome("refusal", "no"), 1, "failed: the model declined: no"],
  [
    outcome("unverified", "Completion checks failed"),
    5,
    "not verified: the agent says it is done: Completion",
  ],
  [outcome("empty"), 1, "failed: the model gave no answer"],
  [{ kind: "approval", questions: 1 }, 4, "waits for approval: 1 question is open, and no person is here"],
  [{ kind: "approval", questions: 2, left: true }, 130, "waits for approval: 2 questions are open"],
  [{ kind: "failed", error: new Error("x") }, 1, "failed: words"],
  [{ kind: "stopped", by: "SIGINT" }, 130, "interrupted"],
  [{ kind: "stopped", by: "SIGTERM" }, 143, "terminated"],
  [{ kind: "stopped", by: "timeout" }, 3, "stopped: the time of --timeout is over"],
])("%o ends with %i", (end, code, words) => {
  expect(exitCodeOf(end)).toBe(code);
  expect(endWords(end, "words")).toContain(words);
});

it("a run that is done but for calls nobody was there to approve ends with 4; other ends keep their code", () => {
  expect(exitCodeOf(outcome("done"), 2)).toBe(4);
  expect(endWords(outcome("done"), "", 2)).toBe(
    "done, but 2 calls were denied: no person was here to approve",
  );
  expect(exitCodeOf(outcome("budget"), 2)).toBe(3);
});
