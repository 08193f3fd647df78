import { describe, expect, it } from "vitest";
import { type PrunableRow, type PruneRule, planPrune } from "./prune-plan.ts";

interface Given extends Partial<PrunableRow> {
  readonly id: string;
}

function planned(rows: readonly Given[], rule: PruneRule): string[] {
  const complete = rows.map((row) => ({
    namespace: "",
    root: undefined,
    storedAt: 0,
    needsAncestors: false,
    ...row,
  }));
  return planPrune(complete, rule).map((row) => row.id);
}

const roots = [{ id: "9" }, { id: "6" }, { id: "3" }];

describe("which checkpoints may go", () => {
  it("all but the latest", () => {
    expect(planned(roots, { keepLatest: 2 })).toEqual(["3"]);
    expect(planned(roots, { keepLatest: 0 })).toEqual(["6", "3"]);
    expect(planned(roots, {})).toEqual([]);
    expect(planned([], { keepLatest: 1 })).toEqual([]);
  });

  it("those older than a moment, except the newest", () => {
    const rows = [
      { id: "9", storedAt: 1 },
      { id: "6", storedAt: 7 },
      { id: "3", storedAt: 3 },
    ];
    expect(planned(rows, { olderThan: 5 })).toEqual(["3"]);
    expect(planned(rows, { olderThan: 50 })).toEqual(["6", "3"]);
    expect(planned(rows, { olderThan: 5, keepLatest: 1 })).toEqual(["6", "3"]);
  });

  it("a task's own with the root they belong to, however many they are", () => {
    const children = ["3", "6"].flatMap((root) =>
      ["b", "a"].map((id) => ({ id: root + id, root, namespace: `tools:${root}`, storedAt: 0 })),
    );
    expect(planned([...roots, ...children], { keepLatest: 2 })).toEqual(["3", "3b", "3a"]);
    expect(planned([...roots, ...children], { keepLatest: 5 })).toEqual([]);
  });

  it("children whose root went earlier, but not those whose root is yet to come", () => {
    const children = [
      { id: "1a", root: "1", namespace: "tools:1" },
      { id: "99a", root: "99", namespace: "tools:99" },
    ];
    expect(planned([...roots, ...children], { keepLatest: 3 })).toEqual(["1a"]);
  });

  it("not the newest of a namespace that outlives its run", () => {
    const children = [
      { id: "6a", root: "6", namespace: "memory" },
      { id: "3a", root: "3", namespace: "memory" },
    ];
    expect(planned([...roots, ...children], { keepLatest: 1 })).toEqual(["6", "3", "3a"]);
  });

  it("nothing of a namespace whose newest needs its ancestors", () => {
    const rows = [{ id: "9", needsAncestors: true }, { id: "6" }];
    expect(planned(rows, { keepLatest: 1 })).toEqual([]);
    const child = [
      { id: "6a", root: "6", namespace: "memory", needsAncestors: true },
      { id: "3a", root: "3", namespace: "memory", needsAncestors: true },
    ];
    expect(planned([...roots, ...child], { keepLatest: 2 })).toEqual(["3"]);
  });

  it("of a thread without a root namespace, each namespace by itself", () => {
    const rows = ["b", "a"].map((id) => ({ id, root: "1", namespace: "tools:1" }));
    expect(planned(rows, { keepLatest: 1 })).toEqual(["a"]);
  });
});
