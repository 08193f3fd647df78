import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { hasGutter, numberLines } from "./number-lines.ts";

describe("numberLines", () => {
  it("numbers lines as cat does, with a bar that no indentation can be confused with", () => {
    expect(numberLines("\tif\r\n\n  x", { startLine: 9 })).toEqual({
      text: "     9│\tif\n    10│\n    11│  x",
      endLine: 11,
    });
  });

  it("shows no extra row for a final newline", () => {
    expect(numberLines("a\nb\n", { startLine: 1 })).toEqual({ text: "     1│a\n     2│b", endLine: 2 });
  });

  it("shows the empty line a page ends with when told how many lines there are", () => {
    expect(numberLines("a\n", { startLine: 1, lines: 2 })).toEqual({ text: "     1│a\n     2│", endLine: 2 });
    expect(numberLines("", { startLine: 5, lines: 1 })).toEqual({ text: "     5│", endLine: 5 });
  });

  it("cuts a long line and says where to go on, until all of it was seen", () => {
    const line = Array.from({ length: 5321 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
    let seen = "";
    let column: number | undefined = 0;
    let reads = 0;
    while (column !== undefined) {
      const shown = numberLines(`${line}\nnext`, { startLine: 4, column });
      const rows = (shown as { text: string }).text.split("\n");
      seen += rows[0]?.slice("     4│".length);
      const remark = /^… line 4 goes on for \d+ characters: offset=3, column=(\d+)$/.exec(rows[1] ?? "");
      column = remark ? Number(remark[1]) : undefined;
      reads += 1;
    }
    expect(seen).toBe(line);
    expect(reads).toBe(2);
  });

  it("shows more of a line to whoever goes on in it, as far as there is room", () => {
    const content = "x".repeat(100_000);
    const columnAfter = (options: object) =>
      /column=(\d+)$/.exec(
        (numberLines(content, { startLine: 1, ...options }) as { text: string }).text,
      )?.[1];
    expect(columnAfter({})).toBe("2000");
    expect(columnAfter({ column: 2000 })).toBe("22000");
    expect(columnAfter({ column: 2000, maxCharacters: 1120 })).toBe("3000");
    expect(columnAfter({ maxCharacters: 520 })).toBe("400");
    expect(columnAfter({ maxCharacters: 1 })).toBe("100");
  });

  it("never cuts a character in two", () => {
    const shown = numberLines("x".repeat(1999) + "🙂".repeat(10), { startLine: 1 }) as { text: string };
    expect(shown.text.split("\n")[0]).toBe(`     1│${"x".repeat(1999)}`);
    expect(shown.text).toContain("column=1999");
  });

  it("answers a column past the end of the line with its length", () => {
    expect(numberLines("abc\nd", { startLine: 7, column: 3 })).toEqual({
      error: "Column 3 is past the end of line 7, which has 3 characters",
      code: "INVALID_ARGUMENT",
    });
  });

  it("stops before the line that would exceed the size, but shows at least one", () => {
    const content = "0123456789\n".repeat(5);
    expect(numberLines(content, { startLine: 1, maxCharacters: 40 })).toMatchObject({ endLine: 2 });
    expect(numberLines(content, { startLine: 1, maxCharacters: 1 })).toMatchObject({ endLine: 1 });
  });

  it.each([
    ["    12│const x", true],
    ["const x = 1; // 3│4", false],
  ])("%j holds a gutter: %s", (text, expected) => expect(hasGutter(text)).toBe(expected));

  it("takes linear time for many lines", async () => {
    await withinCpuLimit("numbering 200,000 lines", () => {
      numberLines("a line of text\n".repeat(200_000), { startLine: 1 });
    });
  });
});
