import { expect, test } from "vitest";
import { filled, variablesIn } from "./variables.ts";

const of = (name: string): string => `$\{${name}}`;

test("the variables of a definition are found wherever they stand", () => {
  const definition = {
    command: of("B"),
    args: [of("A"), `--x=${of("C:-1")} ${of("A")}`],
    env: { KEY: of("D:-") },
    timeout: 7,
    disabled: false,
    nothing: null,
    more: undefined,
  };
  expect(variablesIn(definition)).toEqual(["A", "B", "C", "D"]);
  expect(variablesIn(["$A", of(""), of("1A"), 3])).toEqual([]);
});

test("they are filled in, and all else stays as it is", () => {
  const definition = { args: [of("A"), 3, null], env: { K: `<${of("B:-other")}>` }, timeout: 7, on: true };
  expect(filled(definition, { A: "a" })).toEqual({
    ...{ args: ["a", 3, null], env: { K: "<other>" } },
    ...{ timeout: 7, on: true },
  });
});

test.each([
  ["A", { A: "a" }, "a"],
  ["A", { A: "" }, ""],
  ["A:-d", { A: "a" }, "a"],
  ["A:-d", { A: "" }, "d"],
  ["A:-d", {}, "d"],
  ["A:-", {}, ""],
  ["toString:-d", {}, "d"],
])("%s where %j is set: %j", (name, environment, expected) => {
  expect(filled(of(name), environment)).toBe(expected);
});

test("those that are missing are named", () => {
  expect(() => filled([of("B"), of("A")], {})).toThrow("names A, B, which are not set");
  expect(() => filled(of("A"), { A: undefined })).toThrow("names A, which is not set");
});
