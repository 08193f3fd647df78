import { BinaryOperatorAggregate } from "@langchain/langgraph";
import { LastValue } from "@langchain/langgraph/channels";
import { describe, expect, test } from "vitest";
import { updateFor } from "./state-update.ts";

type Reducer = (left: any, right: any) => any;

const reducers: Record<string, Reducer> = {
  append: (left, right) => [...left, ...right],
  "append one": (left, right) => [...left, right],
  "append in place": (left, right) => {
    left.push(...right);
    return left;
  },
  merge: (left, right) => ({ ...left, ...right }),
  sum: (left, right) => left + right,
  largest: (left, right) => Math.max(left, right),
  replace: (_, right) => right,
};

describe("what a child made of a value becomes the smallest update that does the same", () => {
  test.each<[string, unknown, unknown, unknown]>([
    ["append", ["a"], ["a", "b"], ["b"]],
    ["append one", ["a"], ["a", "b"], "b"],
    ["append in place", ["a"], ["a", "b"], ["b"]],
    ["append", [{ x: 1 }], [{ x: 1 }, { x: 2 }], [{ x: 2 }]],
    ["merge", { a: 1 }, { a: 1, b: 2 }, { b: 2 }],
    ["merge", { a: 1, c: 3 }, { a: 2, c: 3 }, { a: 2 }],
    ["sum", 5, 6, 1],
    ["largest", 5, 6, 6],
    ["replace", ["a"], ["a", "b"], ["a", "b"]],
    ["replace", { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
    ["replace", "x", "y", "y"],
  ])("%s: %j → %j", (name, before, after, update) => {
    const channel = new BinaryOperatorAggregate<any, any>(reducers[name] as Reducer, () => undefined);
    const kept = structuredClone(before);
    expect(updateFor(channel, before, after)).toEqual(update);
    expect(before).toEqual(kept);
  });

  test("without a reducer it is the value", () => {
    expect(updateFor(new LastValue<unknown>(), [1], [1, 2])).toEqual([1, 2]);
    expect(updateFor(undefined, [1], [1, 2])).toEqual([1, 2]);
  });
});
