import { describe, expect, it } from "vitest";
import { ageOf, sizeOf, stepOf, wholeNumber } from "./amounts.ts";

describe("amounts as people type them", () => {
  it.each([
    ["30d", 2_592_000],
    ["12h", 43_200],
    ["1.5m", 90],
    ["2 w", 1_209_600],
    ["9S", 9],
  ])("the age %s", (text, seconds) => {
    expect(ageOf(text, "--older-than")).toBe(seconds);
  });

  it.each([
    ["1g", 2 ** 30],
    ["500m", 500 * 2 ** 20],
    ["1.5 KB", 1_536],
    ["2MiB", 2 ** 21],
    ["17", 17],
    ["17b", 17],
  ])("the size %s", (text, bytes) => {
    expect(sizeOf(text, "--max-bytes")).toBe(bytes);
  });

  it.each(["", "d", "30", "-3d", "30 days", "1e3s"])("'%s' is no age", (text) => {
    expect(() => ageOf(text, "--older-than")).toThrow("--older-than must be an age");
  });

  it.each(["", "g", "-1g", "1x"])("'%s' is no size", (text) => {
    expect(() => sizeOf(text, "--max-bytes")).toThrow("--max-bytes must be a size");
  });

  it.each(["0", "-1", "1.5", "x", "99999999999999999"])("'%s' is no number to count with", (text) => {
    expect(() => wholeNumber(text, "--limit")).toThrow("--limit must be a whole number");
  });

  it("a step is a number or a checkpoint's id", () => {
    expect([stepOf("-1"), stepOf("12"), stepOf("1f1e-6")]).toEqual([-1, 12, "1f1e-6"]);
  });
});
