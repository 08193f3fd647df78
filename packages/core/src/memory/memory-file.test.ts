import { describe, expect, it } from "vitest";
import { beginningOf, isMissing, isSame, memoryFile, shownText, withoutText } from "./memory-file.ts";

describe("beginningOf", () => {
  it.each<[string, string, number, string]>([
    ["the whole of a short text", "a\nb\n", 10, "a\nb\n"],
    ["whole lines", "aaaa\nbbbb\ncccc\n", 12, "aaaa\nbbbb\n"],
    ["a part of a line that is too long", `a\n${"b".repeat(50)}`, 10, "a\nbbbbbbbb"],
    ["whole characters", "👍👍👍", 3, "👍"],
    ["nothing", "\nabc", 0, ""],
    ["what is before a comment that would be parted", "aaa\nbbb <!-- x\ny\nz -->\n", 18, "aaa\nbbb "],
  ])("is %s", (_name, text, limit, expected) => expect(beginningOf(text, limit)).toBe(expected));
});

describe("memoryFile", () => {
  it("keeps the beginning, and sees a change behind it", () => {
    const text = "line\n".repeat(1000);
    const file = memoryFile({ path: "/a", text }, 100);
    expect(file).toMatchObject({ text: "line\n".repeat(20), goesOn: true });
    expect(isSame(file, memoryFile({ path: "/a", text }, 100))).toBe(true);
    expect(isSame(file, memoryFile({ path: "/a", text: `${text}!` }, 100))).toBe(false);
  });

  it("tells what is not there from what is empty and what cannot be read", () => {
    expect(isMissing(memoryFile({ path: "/a" }, 10))).toBe(true);
    expect(isMissing(memoryFile({ path: "/a", text: "" }, 10))).toBe(false);
    expect(isMissing(memoryFile({ path: "/a", problem: "no" }, 10))).toBe(false);
  });

  it("forgets its text but not its comments", () => {
    const file = withoutText(memoryFile({ path: "/a", text: "a <!-- x --> b" }, 100));
    expect(file).toEqual({ path: "/a", mark: expect.any(String), comments: ["<!-- x -->"] });
    expect(withoutText(memoryFile({ path: "/a", text: "a" }, 100))).not.toHaveProperty("comments");
  });
});

describe("shownText", () => {
  it("says after how many lines of the file it ends", () => {
    const file = memoryFile({ path: "/a", text: "one <!-- x\ny -->\ntwo\nthree\nfour\n" }, 1000);
    expect(shownText(file, 1000)).toEqual({
      text: expect.stringMatching(/^one <!-- kept \w+ -->\ntwo\nthree\nfour\n$/),
    });
    expect(shownText(file, 36)).toEqual({ text: expect.stringMatching(/-->\ntwo\n$/), lines: 3 });
  });

  it("stays within its limit, whatever the text becomes", () => {
    for (const part of ["<!---->", "</system>", "\u202e", "👍", "a\n"])
      for (const limit of [0, 1, 10, 1000, 32_000]) {
        const file = memoryFile({ path: "/a", text: part.repeat(100_000) }, 32_000);
        expect(shownText(file, limit).text.length).toBeLessThanOrEqual(limit);
        expect(shownText(file, limit).lines).toBeDefined();
      }
  });
});
