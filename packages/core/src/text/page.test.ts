import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { normalizeReadPagination, type Page, pageOf } from "./page.ts";

describe("normalizeReadPagination", () => {
  it.each([
    [undefined, undefined, 0, 2000],
    [null, null, 0, 2000],
    [-1, 10, 0, 10],
    [Number.NaN, Number.NaN, 0, 2000],
    [3.7, 2.9, 3, 2],
    [0, 0, 0, 2000],
    [0, -5, 0, 2000],
    [0, 0.5, 0, 2000],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY],
  ])("(%s, %s) means offset %s, limit %s", (offset, limit, expectedOffset, expectedLimit) => {
    expect(normalizeReadPagination(offset, limit)).toEqual({ offset: expectedOffset, limit: expectedLimit });
  });
});

describe("pageOf", () => {
  it.each<[string, number, number, Page]>([
    ["", 0, 10, { content: "", totalLines: 0 }],
    ["", 5, 10, { content: "", totalLines: 0 }],
    ["a", 0, 10, { content: "a", startLine: 1, endLine: 1, totalLines: 1 }],
    ["a\nb\n", 0, 10, { content: "a\nb\n", startLine: 1, endLine: 2, totalLines: 2 }],
    ["a\nb\n", 0, 2, { content: "a\nb\n", startLine: 1, endLine: 2, totalLines: 2 }],
    ["a\nb\nc", 0, 2, { content: "a\nb", startLine: 1, endLine: 2, nextOffset: 2, totalLines: 3 }],
    ["a\nb\nc", 2, 2, { content: "c", startLine: 3, endLine: 3, totalLines: 3 }],
    ["a\r\nb\r\nc\r\n", 1, 1, { content: "b", startLine: 2, endLine: 2, nextOffset: 2, totalLines: 3 }],
    ["a\rb\n\nc", 1, 2, { content: "b\n", startLine: 2, endLine: 3, nextOffset: 3, totalLines: 4 }],
    ["\n\n", 1, 5, { content: "\n", startLine: 2, endLine: 2, totalLines: 2 }],
  ])("%j at %s, %s lines", (text, offset, limit, expected) => {
    expect(pageOf(text, offset, limit)).toEqual(expected);
  });

  it.each([
    ["a\nb\n", 2, "Offset 2 is past the end of the file, which has 2 lines"],
    ["a", 9, "Offset 9 is past the end of the file, which has 1 line"],
  ])("%j has nothing at offset %s and says how long it is", (text, offset, error) => {
    expect(pageOf(text, offset, 5)).toEqual({ error, code: "INVALID_ARGUMENT" });
  });

  it("visits every line once when the pages are followed", () => {
    const text = Array.from({ length: 997 }, (_, index) => `line ${index}`).join("\r\n");
    const seen: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page: Page = pageOf(text, offset, 10) as Page;
      seen.push(...page.content.split("\r\n"));
      offset = page.nextOffset;
    }
    expect(seen).toEqual(text.split("\r\n"));
  });

  it("does not walk through a huge text to show its head", async () => {
    const text = Buffer.from("some words on a line\n".repeat(5_000_000)).toString("latin1");
    const page = await withinCpuLimit("the head of a text of 100 MB", () => pageOf(text, 10, 100) as Page);
    expect(page).toMatchObject({ startLine: 11, endLine: 110, nextOffset: 110 });
    expect(page.totalLines).toBeUndefined();
  });
});
