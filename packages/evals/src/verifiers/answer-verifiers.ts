/** Verifiers of answers, numbers, structured output, state and the outside world. */
import { isDeepStrictEqual } from "node:util";
import type { World } from "../format/case-tool.ts";
import { quoted } from "./file-verifiers.ts";
import { failed, PASSED, type TrialOutput, type Verdict, type Verifier } from "./verifier.ts";

/** The last reply names each of these. */
export function answerContains(...texts: readonly (string | RegExp)[]): Verifier {
  return {
    name: `the answer names ${texts.join(" and ")}`,
    check: ({ answer }) => {
      const absent = texts.find((text) =>
        typeof text === "string" ? !answer.toLowerCase().includes(text.toLowerCase()) : !text.test(answer),
      );
      return absent === undefined ? PASSED : failed(`the answer does not name ${absent}: ${quoted(answer)}`);
    },
  };
}

export function answerLacks(...texts: readonly (string | RegExp)[]): Verifier {
  return {
    name: `the answer does not name ${texts.join(" or ")}`,
    check: ({ answer }) => {
      const present = texts.find((text) =>
        typeof text === "string" ? answer.includes(text) : text.test(answer),
      );
      return present === undefined ? PASSED : failed(`the answer names ${present}: ${quoted(answer)}`);
    },
  };
}

/** Some number in the answer is within `tolerance` of `expected`. */
export function answerNumber(expected: number, tolerance = 0): Verifier {
  return {
    name: `the answer has the number ${expected}${tolerance === 0 ? "" : ` ± ${tolerance}`}`,
    check: ({ answer }) =>
      numbersIn(answer).some((found) => Math.abs(found - expected) <= tolerance)
        ? PASSED
        : failed(`no number near ${expected} in ${quoted(answer)}`),
  };
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/-?\d[\d,]*(?:\.\d+)?/g)].map(([found]) => Number(found.replaceAll(",", "")));
}

/** The structured answer equals `expected`, or the predicate accepts it. */
export function structuredIs(expected: object | ((value: unknown) => boolean)): Verifier {
  return {
    name: "the structured answer is right",
    check: ({ structured }) => {
      const isRight =
        typeof expected === "function" ? expected(structured) : isDeepStrictEqual(structured, expected);
      return isRight
        ? PASSED
        : failed(`the structured answer is ${quoted(JSON.stringify(structured) ?? "missing")}`);
    },
  };
}

/** A statement about what tools of the case changed. */
export function worldIs(name: string, holds: (world: World) => boolean): Verifier {
  return {
    name,
    check: ({ world }) => (holds(world) ? PASSED : failed(`not so: ${quoted(JSON.stringify(world))}`)),
  };
}

/** A statement about the state of the harness, such as its todos. */
export function stateIs(name: string, holds: (state: TrialOutput["state"]) => boolean): Verifier {
  return { name, check: ({ state }) => (holds(state) ? PASSED : failed("the state says otherwise")) };
}

/** Any other statement about the result. */
export function verify(name: string, check: (output: TrialOutput) => Verdict): Verifier {
  return { name, check };
}

export function mostModelCalls(most: number): Verifier {
  return {
    name: `at most ${most} model calls`,
    check: ({ modelCalls }) => (modelCalls <= most ? PASSED : failed(`${modelCalls} model calls`)),
  };
}
