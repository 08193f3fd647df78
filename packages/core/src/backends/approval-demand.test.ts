import { expect, it } from "vitest";
import { approvalDemandOf, sameDemand } from "./approval-demand.ts";

const DEMAND = Symbol.for("deepwright.approval-demand");
const holding = { [DEMAND]: "it holds a key" };

it.each<[string, unknown, string | undefined]>([
  ["a backend", holding, "it holds a key"],
  ["a factory", Object.assign(() => ({}), holding), "it holds a key"],
  ["another backend", {}, undefined],
  ["null", null, undefined],
  ["nothing", undefined, undefined],
  ["text", "it holds a key", undefined],
])("%s demands approval: %s", (_, holder, why) => {
  expect(approvalDemandOf(holder)).toBe(why);
});

it("whoever stands in front of a backend that demands approval demands it too", () => {
  expect(approvalDemandOf(sameDemand({}, undefined, holding))).toBe("it holds a key");
  expect(sameDemand({}, undefined)).toStrictEqual({});
  expect(Object.getOwnPropertySymbols(sameDemand({}))).toEqual([]);
});
