import { describe, expect, it } from "vitest";
import { boundedList } from "./bounded-list.ts";

describe("boundedList", () => {
  it.each<[string[], number, string, number]>([
    [[], 10, "", 0],
    [["ab", "cd"], 100, "ab\ncd", 0],
    [["ab", "cd", "ef"], 6, "ab\ncd", 1],
    [["a very long entry", "x"], 3, "a very long entry", 1],
  ])("%j in %s characters: %j, %s left", (entries, size, text, left) => {
    expect(boundedList(entries, size)).toEqual({ text, left });
  });
});
