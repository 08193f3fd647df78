import { describe, expect, it } from "vitest";
import { goOnLine } from "./go-on.ts";
import type { RunEnd } from "./run-end.ts";

const THREAD = { id: "3f19", isKept: true };
const NONE = { db: undefined, limits: {} };

function budget(allowed: number): RunEnd {
  return { kind: "outcome", outcome: { kind: "budget", allowed } };
}

describe("how a run can go on", () => {
  it("names the limit that was reached, doubled", () => {
    const options = { db: undefined, limits: { maxCost: 0.5, maxSteps: 10 } };
    expect(goOnLine(budget(0.5), 0, options, THREAD)).toBe(
      "Go on with: deepwright run --thread 3f19 --max-cost 1",
    );
    expect(goOnLine(budget(10), 0, options, THREAD)).toContain("--max-steps 20");
  });

  it("leaves it to the reader which of two equal limits it was", () => {
    const options = { db: undefined, limits: { maxCost: 10, maxSteps: 10 } };
    expect(goOnLine(budget(10), 0, options, THREAD)).toContain("3f19 with a higher limit");
  });

  it("never repeats the address of a database", () => {
    const options = { db: "postgres://me:secret@host/db", limits: { maxSteps: 1 } };
    expect(goOnLine(budget(1), 0, options, THREAD)).toContain("--thread 3f19 --db … --max-steps 2");
  });

  it("says how to answer while questions are open, also when the run was stopped", () => {
    const end: RunEnd = { kind: "stopped", by: "timeout" };
    expect(goOnLine(end, 1, NONE, THREAD)).toContain(
      "Decide with: deepwright run --thread 3f19, or with --approve",
    );
    expect(goOnLine(end, 0, NONE, THREAD)).toBeUndefined();
  });

  it("says nothing about what is not kept, or done", () => {
    expect(goOnLine(budget(1), 0, NONE, { id: "1", isKept: false })).toBeUndefined();
    expect(goOnLine({ kind: "outcome", outcome: { kind: "done" } }, 0, NONE, THREAD)).toBeUndefined();
  });
});
