import { describe, expect, it } from "vitest";
import { type ContinuableRun, continueHint } from "./continue-hint.ts";
import type { RunEnd } from "./run-end.ts";

const THREAD = { id: "3f19", isKept: true };
const NONE = { db: undefined, limits: {}, in: "." };

function lineOf(
  end: RunEnd,
  open: number,
  options: Partial<ContinuableRun["options"]>,
  thread: ContinuableRun["thread"] = THREAD,
  sandbox?: ContinuableRun["sandbox"],
): string | undefined {
  return continueHint(end, open, { options: { ...NONE, ...options }, thread, sandbox });
}

function budget(allowed: number): RunEnd {
  return { kind: "outcome", outcome: { kind: "budget", allowed } };
}

describe("how a run can go on", () => {
  it("names the limit that was reached, doubled", () => {
    const options = { db: undefined, limits: { maxCost: 0.5, maxSteps: 10 } };
    expect(lineOf(budget(0.5), 0, options)).toBe("Continue with: deepwright run --thread 3f19 --max-cost 1");
    expect(lineOf(budget(10), 0, options)).toContain("--max-steps 20");
  });

  it("leaves it to the reader which of two equal limits it was", () => {
    const options = { db: undefined, limits: { maxCost: 10, maxSteps: 10 } };
    expect(lineOf(budget(10), 0, options)).toContain("3f19 with a higher limit");
  });

  it("never repeats the address of a database", () => {
    const options = { db: "postgres://me:secret@host/db", limits: { maxSteps: 1 } };
    expect(lineOf(budget(1), 0, options)).toContain("--thread 3f19 --db … --max-steps 2");
  });

  it("says how to answer while questions are open, also when the run was stopped", () => {
    const end: RunEnd = { kind: "stopped", by: "timeout" };
    expect(lineOf(end, 1, NONE)).toContain("Decide with: deepwright run --thread 3f19, or with --approve");
    expect(lineOf(end, 0, NONE)).toBeUndefined();
  });

  it("names the directory where one was named, and that there is no isolation", () => {
    const end: RunEnd = { kind: "approval", questions: 1 };
    expect(lineOf(end, 1, { in: "my dir" })).toContain("--thread 3f19 --in 'my dir', or with --approve");
    const none = { kind: "none", isAskedFor: true, hosts: [] } as const;
    expect(lineOf(end, 1, {}, THREAD, none)).toContain("--thread 3f19 --sandbox none, or with");
    const kept = { kind: "docker", isAskedFor: true, image: "a:1", hosts: [] } as const;
    expect(lineOf(end, 1, {}, THREAD, kept)).toContain("--thread 3f19, or with");
  });

  it("says nothing about what is not kept, or done", () => {
    expect(lineOf(budget(1), 0, NONE, { id: "1", isKept: false })).toBeUndefined();
    expect(lineOf({ kind: "outcome", outcome: { kind: "done" } }, 0, NONE)).toBeUndefined();
  });
});
