import { expect, it } from "vitest";
import { textHash } from "./text-hash.ts";

it("is the same for one text, in every process", () => {
  expect(textHash("")).toBe(textHash(""));
  expect(textHash("call_1")).toBe("58f158f730a9d2e3");
});

it("differs for ten thousand names that differ in one character", () => {
  const hashes = new Set(Array.from({ length: 10_000 }, (_, i) => textHash(`call_${i}`)));
  expect(hashes.size).toBe(10_000);
});

it("differs where characters only change places", () => {
  expect(textHash("ab")).not.toBe(textHash("ba"));
  expect(textHash("\0\0")).not.toBe(textHash("\0"));
});
