import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error a plain module without types
import { compare, isFailure } from "../bench/compatibility/harness/compare.mjs";

const FOLDER = join("bench", "compatibility");

const rowOf = (theirs: unknown, ours: unknown, listed: object[] = [], errors: string[] = []) =>
  compare({
    name: "p",
    theirs: { p: { value: theirs } },
    ours: { p: { value: ours } },
    types: { deepagents: {}, deepwright: { p: errors } },
    listed,
  });

const entry = (at: string) => ({ program: "p", at: [at], what: "it differs", why: "we want it" });

test("equal answers are no failure", () => {
  expect(isFailure(rowOf({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }))).toBe(false);
});

test("an answer that differs is a failure unless that place is listed", () => {
  const theirs = { a: { b: 1, c: 2 }, d: 3 };
  expect(isFailure(rowOf(theirs, { a: { b: 9, c: 2 }, d: 3 }))).toBe(true);
  expect(isFailure(rowOf(theirs, { a: { b: 9, c: 2 }, d: 3 }, [entry("a")]))).toBe(false);
  expect(isFailure(rowOf(theirs, { a: { b: 9, c: 2 }, d: 4 }, [entry("a")]))).toBe(true);
  expect(isFailure(rowOf({ ab: 1 }, { ab: 2 }, [entry("a")]))).toBe(true);
});

test("a missing key, a list of another length and a type error are differences", () => {
  expect(isFailure(rowOf({ a: 1 }, {}))).toBe(true);
  expect(isFailure(rowOf([1], [1, 2]))).toBe(true);
  expect(isFailure(rowOf({}, {}, [], ["line 1: error TS1: no"]))).toBe(true);
  expect(isFailure(rowOf({}, {}, [entry("type check")], ["line 1: error TS1: no"]))).toBe(false);
});

test("every listed difference names a program that exists, a place and a reason", () => {
  const listed = JSON.parse(readFileSync(join(FOLDER, "differences.json"), "utf8"));
  for (const { program, at, what, why } of listed) {
    expect(existsSync(join(FOLDER, "programs", `${program}.ts`)), program).toBe(true);
    expect([at.length > 0, what.length > 0, why.length > 0], program).toEqual([true, true, true]);
  }
});
