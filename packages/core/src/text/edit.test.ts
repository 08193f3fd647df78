import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { replaceText } from "./edit.ts";
import { normalizeLineEnds, splitLines } from "./lines.ts";

describe("replaceText", () => {
  it.each<[string, string, string, boolean, string, number]>([
    ["one two", "two", "2", false, "one 2", 1],
    ["a a a", "a", "b", true, "b b b", 3],
    ["aaa", "aa", "b", false, "ba", 1],
    ["x", "x", "$& $` $' $$ $1", false, "$& $` $' $$ $1", 1],
    ["$& x", "$&", "y", false, "y x", 1],
    ["a.c abc", "a.c", "z", false, "z abc", 1],
    ["keep\nthis\n", "this\n", "", false, "keep\n", 1],
    ["", "", "first\n", false, "first\n", 1],
    ["a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n", 1],
    ["a\r\nb\r\nc\r\n", "b", "b1\nb2", false, "a\r\nb1\r\nb2\r\nc\r\n", 1],
    ["a\r\nb", "b", "b\nc", false, "a\r\nb\r\nc", 1],
    ["a\rb\rc", "b\nc", "x\ny", false, "a\rx\ry", 1],
    ["a\r\nb\nc\r\nd\n", "b\nc", "b\nX\nc", false, "a\r\nb\nX\nc\r\nd\n", 1],
    ["a\r\nb\r\n", "a\r\nb\r\n", "c\r\n", false, "c\r\n", 1],
    ["a\nb\n", "a\r\nb", "c\nd", false, "c\nd\n", 1],
    ["\r\nx\r\n", "\nx", "\ny", false, "\r\ny\r\n", 1],
    ["a\r\n", "\n", "", false, "a", 1],
    ["a\nb ... a\r\nb", "a\nb", "c\nd", true, "c\nd ... c\r\nd", 2],
    ["\ufeffa\r\nb", "a\nb", "c", false, "\ufeffc", 1],
  ])("in %j, %j becomes %j (all: %s)", (text, oldString, newString, all, expected, occurrences) => {
    expect(replaceText(text, oldString, newString, all)).toEqual({ text: expected, occurrences });
  });

  it.each<[string, string, string, string, string]>([
    ["abc", "x", "y", "STRING_NOT_FOUND", "String not found in file: 'x'"],
    ["", "x", "y", "STRING_NOT_FOUND", "String not found in file: 'x'"],
    [
      "a\nb a",
      "a",
      "y",
      "STRING_NOT_UNIQUE",
      "String 'a' appears 2 times in file. Use replace_all=True to replace all, " +
        "or add surrounding text to old_string to make it unique (lines 1, 2)",
    ],
    ["x", "x", "x", "INVALID_ARGUMENT", "old_string and new_string are the same: nothing to change"],
    [
      "a\r\nb",
      "a\nb",
      "a\r\nb",
      "INVALID_ARGUMENT",
      "old_string and new_string are the same: nothing to change",
    ],
    [
      "x",
      "",
      "y",
      "INVALID_ARGUMENT",
      "old_string is empty, but the file has content: give the text to replace",
    ],
    [
      "a\nend",
      "end\n",
      "y",
      "STRING_NOT_FOUND",
      "String not found in file: 'end\n'. The last line of the file has no newline at its end; leave it out of old_string",
    ],
    [
      "const a = 1;\n",
      "     1│const a = 1;",
      "y",
      "STRING_NOT_FOUND",
      "String not found in file: '     1│const a = 1;'. Leave line numbers and the bar after them out of old_string",
    ],
    [
      "x\n\tconst a = 1;\n",
      "  const a = 1;",
      "y",
      "STRING_NOT_FOUND",
      "String not found in file: '  const a = 1;'. The file has these lines, which differ in white space only; give them as old_string:\n```\n\tconst a = 1;\n```",
    ],
    ["a\nb ... a\r\nb", "a\nb", "c", "STRING_NOT_UNIQUE", "String 'a\nb' appears 2 times in file."],
  ])("%j with %j to %j is refused: %s", (text, oldString, newString, code, words) => {
    const result = replaceText(text, oldString, newString);
    expect(result).toMatchObject({ code });
    expect(result.error?.startsWith(words)).toBe(true);
  });

  it("does not repeat a long text in its error", () => {
    expect(replaceText("a", "x".repeat(100_000), "y").error?.length).toBeLessThan(700);
  });

  it("accepts any run of lines as a reader saw them and leaves all other bytes alone", () => {
    const ends = ["\n", "\r\n", "\r"];
    for (let seed = 1; seed < 300; seed++) {
      let state = seed;
      const random = (below: number): number => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return Math.floor((state / 2147483648) * below);
      };
      const count = 2 + random(8);
      const text = Array.from(
        { length: count },
        (_, index) => `line ${index} ${random(9)}${index === count - 1 && random(2) ? "" : ends[random(3)]}`,
      ).join("");
      const lines = splitLines(text);
      const from = random(count);
      const to = from + 1 + random(count - from);
      const seen = normalizeLineEnds(
        lines
          .slice(from, to)
          .map((line) => line.text)
          .join("\n"),
      );
      const result = replaceText(text, seen, "NEW\nTEXT");
      const before = lines.slice(0, from).map((line) => line.text + line.end);
      const after = lines.slice(to).map((line) => line.text + line.end);
      const rest = (lines[to - 1]?.end ?? "") + after.join("");
      const edited = (result as { text: string }).text;
      expect(edited.startsWith(before.join(""))).toBe(true);
      expect(edited.endsWith(rest)).toBe(true);
      const middle = edited.slice(before.join("").length, edited.length - rest.length);
      expect(normalizeLineEnds(middle)).toBe("NEW\nTEXT");
    }
  });

  it("edits a large file with many matches in linear time", async () => {
    const text = "some words\r\n".repeat(200_000);
    const edit = () => replaceText(text, "words\n", "w\nv\n", true);
    expect(await withinCpuLimit("replacing 200,000 matches in a text", edit)).toMatchObject({
      occurrences: 200_000,
    });
  });
});
