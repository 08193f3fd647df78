import { Send } from "@langchain/langgraph";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeValue } from "../saver/describe-for-tests.ts";
import { anyMessage, anyValue, LOOK_ALIKES } from "../saver/values-for-tests.ts";
import { InertWriter, readInert } from "./inert.ts";

const NOTHING_ELSEWHERE = { outline: () => undefined, apart: () => null };
const noRefs = (ref: number): never => {
  throw new Error(`There is no reference ${ref}.`);
};
const written = (value: unknown): string => JSON.stringify(new InertWriter(NOTHING_ELSEWHERE).write(value));
const trip = (value: unknown): unknown => readInert(written(value), noRefs);

/** Stored texts never change their meaning: every later version reads them. */
const TABLE: readonly [string, unknown, string][] = [
  ["null", null, "null"],
  ["a number", 1.5, "1.5"],
  ["a text", 'a"\0\ud800', '"a\\"\\u0000\\ud800"'],
  ["minus zero", -0, '{"$":["n","-0"]}'],
  ["NaN", Number.NaN, '{"$":["n","NaN"]}'],
  ["minus infinity", Number.NEGATIVE_INFINITY, '{"$":["n","-Infinity"]}'],
  ["a bigint", -12345678901234567890n, '{"$":["i","-12345678901234567890"]}'],
  ["undefined", undefined, '{"$":["u"]}'],
  ["undefined within", { a: undefined, b: [undefined] }, '{"a":{"$":["u"]},"b":[{"$":["u"]}]}'],
  ["a date", new Date(5), '{"$":["d",5]}'],
  ["an invalid date", new Date(Number.NaN), '{"$":["d",null]}'],
  [
    "a map",
    new Map<unknown, unknown>([["a", new Map([[{ b: 1 }, 2]])]]),
    '{"$":["m",[["a",{"$":["m",[[{"b":1},2]]]}]]]}',
  ],
  ["a set", new Set([1, new Set()]), '{"$":["s",[1,{"$":["s",[]]}]]}'],
  ["a pattern", /a\/b/giu, '{"$":["x","a\\\\/b","giu"]}'],
  ["an error", new TypeError("no"), '{"$":["e","TypeError","no"]}'],
  ["bytes", Uint8Array.of(0, 255), '{"$":["b","AP8="]}'],
  ["16-bit numbers", Int16Array.of(-1), '{"$":["Int16Array","//8="]}'],
  ["64-bit numbers", BigInt64Array.of(-1n), '{"$":["BigInt64Array","//////////8="]}'],
  ["a snapshot", new DeltaSnapshot([1]), '{"$":["S",[1]]}'],
  ["a key $", { $: 1, a: 2 }, '{"$":["o",[["$",1],["a",2]]]}'],
  ["a key __proto__", JSON.parse('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}'],
];

describe("a value as inert JSON", () => {
  test.each(TABLE)("%s has its text, and comes back", (_, value, text) => {
    expect(written(value)).toBe(text);
    expect(describeValue(readInert(text, noRefs))).toBe(describeValue(value));
  });

  test("any value comes back", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(describeValue(trip(value))).toBe(describeValue(value));
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(anyMessage, (value) => {
        expect(describeValue(trip(value))).toBe(describeValue(value));
      }),
      { numRuns: 200 },
    );
  });

  test.each(LOOK_ALIKES.map((value) => [JSON.stringify(value), value]))("%s is data", (_, value) => {
    expect(describeValue(trip(value))).toBe(describeValue(value));
  });

  test("a packet to a node is its fields, as the engine reads it", () => {
    expect(trip([new Send("node", { a: 1 })])).toEqual([{ node: "node", args: { a: 1 } }]);
  });

  test("tags nobody knows stay as they are", () => {
    for (const text of [
      '{"$":["zz",1]}',
      '{"$":["c","planet",{"a":1}]}',
      '{"$":["constructor",1]}',
      '{"$":[]}',
      '{"$":null}',
      '{"$":"x"}',
    ])
      expect(readInert(text, noRefs)).toEqual(JSON.parse(text));
  });

  test("references are handed out wherever they stand", () => {
    const read = readInert(
      '[{"$":0},{"a":{"$":1}},{"$":["m",[[{"$":0},{"$":1}]]]},{"$":["s",{"$":2}]}]',
      (ref) => (ref === 2 ? [7] : `#${ref}`),
    );
    expect(read).toEqual(["#0", { a: "#1" }, new Map([["#0", "#1"]]), new Set([7])]);
  });

  test("nothing read changes any prototype", () => {
    const read = readInert(
      '{"__proto__":{"polluted":1},"a":{"$":["o",[["__proto__",{"polluted":1}],["$",1]]]},"b":{"$":["u"]}}',
      noRefs,
    ) as any;
    expect(Object.keys(read)).toEqual(["__proto__", "a", "b"]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(({} as any).polluted).toBeUndefined();
    expect(read.polluted).toBeUndefined();
  });

  test("circles are cut, what merely comes twice is not", () => {
    const twice = { x: 1 };
    const circle: any = { twice: [twice, twice] };
    circle.self = { circle };
    expect(trip(circle)).toEqual({ twice: [{ x: 1 }, { x: 1 }], self: { circle: "[Circular]" } });
  });

  test("keys that an earlier version kept as objects of their own are read", () => {
    const read = readInert('{"$":["o",[[{"$":0},1],["$",2]]]}', () => "a long key");
    expect(read).toEqual({ "a long key": 1, $: 2 });
  });
});
