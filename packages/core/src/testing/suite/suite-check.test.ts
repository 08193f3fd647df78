import { describe, expect, test } from "vitest";
import { refused, SuiteFailure, same, show, succeeded, thrown } from "./suite-check.ts";

describe("same", () => {
  test.each([
    [{ a: 1, b: undefined }, { a: 1 }],
    [
      [1, [2]],
      [1, [2]],
    ],
    [Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    [Number.NaN, Number.NaN],
  ])("%j and %j", (one, other) => {
    expect(() => same(one, other)).not.toThrow();
  });

  test.each([
    [{ a: 1 }, { a: 2 }],
    [[1], [1, 2]],
    [[1], { 0: 1 }],
    [Uint8Array.of(1), Uint8Array.of(2)],
    [Uint8Array.of(1), [1]],
    [null, {}],
  ])("%j is not %j", (one, other) => {
    expect(() => same(one, other)).toThrow(SuiteFailure);
  });

  test("says where two values differ", () => {
    expect(() => same({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toThrow("value.a.1.b: expected 3, got 2");
  });
});

test("a result with an error has not succeeded, and one without is not refused", async () => {
  await expect(succeeded({ error: "no" })).rejects.toThrow(/operation failed/);
  await expect(refused({ path: "/x" } as object, "FILE_NOT_FOUND")).rejects.toThrow(/FILE_NOT_FOUND/);
  await expect(refused({ error: "no", code: "CONFLICT" } as object, "FILE_NOT_FOUND")).rejects.toThrow();
  await expect(
    refused(Promise.resolve({ error: "no", code: "CONFLICT" }), ["CONFLICT"]),
  ).resolves.toBeTruthy();
});

test("what is thrown is the answer, and what is not thrown is a failure", async () => {
  const error = new Error("x");
  expect(await thrown(() => Promise.reject(error))).toBe(error);
  await expect(thrown(() => 1)).rejects.toThrow("expected it to throw, got 1");
});

test("a message is short and on one line", () => {
  expect(show("a\u0085b\u202e")).toBe('"a\\u0085b\\u202e"');
  expect(show("x".repeat(10_000)).length).toBeLessThan(700);
});
