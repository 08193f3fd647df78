/** Random JSON, most of it made of what LangChain, LangGraph and we use as marks. */
import fc from "fast-check";
import { anyKey, anyText, LOOK_ALIKES } from "../saver/values-for-tests.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

const MARKS = [
  "$",
  "lc",
  "type",
  "id",
  "kwargs",
  "args",
  "lg_name",
  "__type__",
  "__overwrite__",
  "__interrupt__",
  "toJSON",
  "constructor",
  "__proto__",
  "lc_kwargs",
  "lc_direct_tool_output",
  "_getType",
  "value",
  "0",
  "4294967295",
] as const;

const WORDS = [
  "constructor",
  "secret",
  "not_implemented",
  "undefined",
  "Send",
  "Command",
  "DeltaSnapshot",
  "Overwrite",
  "tool",
  "human",
  "o",
  "S",
  "c",
];

const longKey = fc
  .integer({ min: 1_000, max: 5_000 })
  .map((length) => "long key ".repeat(length).slice(0, length));
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...MARKS) },
  { weight: 2, arbitrary: anyKey },
  { weight: 1, arbitrary: longKey },
);

const leaf = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: anyText },
  { weight: 2, arbitrary: fc.integer({ min: -2, max: 5 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant(true) },
);

/** Longer ones an agent keeps in files. */
const MOST_CHARACTERS = 20_000;

const object = (value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> =>
  fc.array(fc.tuple(key, value), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs));

/** A long list repeats a flat value: lists of 90 within each other would grow a hundredfold with each level. */
const longList = fc
  .tuple(fc.integer({ min: 60, max: 90 }), fc.oneof(leaf, fc.array(leaf, { maxLength: 2 }), object(leaf)))
  .map(([length, item]): JsonValue => Array(length).fill(item));

export const anyJson: fc.Arbitrary<JsonValue> = fc
  .letrec<{ json: JsonValue }>((tie) => ({
    json: fc.oneof(
      { depthSize: "small", maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.constantFrom(...(LOOK_ALIKES as JsonValue[])),
      fc.array(tie("json"), { maxLength: 4 }),
      object(tie("json")),
      fc
        .array(fc.tuple(key, tie("json")), { maxLength: 3 })
        .map((pairs) => Object.fromEntries([["$", 1], ...pairs])),
      longList,
    ),
  }))
  .json.filter((json) => JSON.stringify(json).length < MOST_CHARACTERS);
