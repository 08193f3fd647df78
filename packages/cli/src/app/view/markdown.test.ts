import { expect, test } from "vitest";
import { safeText } from "../../terminal/safe-text.ts";
import { type CutMarkdown, cutMarkdown, type Piece } from "./markdown-pieces.ts";
import { pieceRows } from "./markdown-view.ts";
import { themeForBackground, themeOf } from "./theme.ts";

const theme = themeOf("dark", false);
const TEXT = `# Title

A paragraph with **bold** words and \`code\`.

1. one
2. two
3. three

\`\`\`ts
const a = 1;
const b = "x";
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

The [end](https://example.com).`;

/** The pieces of a text that comes in pieces of `step` characters. */
function streamed(text: string, step: number): Piece[] {
  const pieces: Piece[] = [];
  let cut: CutMarkdown = { pieces: [], end: 0, fence: undefined };
  for (let at = step; at < text.length + step; at += step) {
    cut = cutMarkdown(text.slice(0, at), cut.end, cut.fence, at >= text.length);
    pieces.push(...cut.pieces);
  }
  return pieces;
}

const rowsOf = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap((piece) => pieceRows(piece, 60, theme)).filter((row) => row.trim() !== "");

test.each([1, 2, 3, 7, 50])("text in pieces of %i shows the same rows as the whole text", (step) => {
  expect(rowsOf(streamed(TEXT, step))).toEqual(rowsOf(streamed(TEXT, TEXT.length)));
});

test("headings, lists, tables, code and links are rows of text", () => {
  const rows = rowsOf(streamed(TEXT, 5));
  expect(rows).toContain("  1. one");
  expect(rows).toContain("  │ const a = 1;");
  expect(rows.join("\n")).toContain("https://example.com");
  expect(rows.some((row) => row.includes("│ 1 │ 2 │"))).toBe(true);
});

test("lines of a code block are settled before the block ends", () => {
  const { pieces, fence } = cutMarkdown("Look:\n\n```sh\nnpm test\nnpm run b", 0, undefined, false);
  expect(pieces.at(-1)).toEqual({ kind: "code", language: "sh", lines: ["npm test"] });
  expect(fence).toEqual({ language: "sh", mark: "```" });
});

test("entities and escapes in Markdown bring no control characters", () => {
  const hostile = safeText("&#27;]0;x&#7; \x1b[2J [x](javascript:\x1b) \u202e");
  expect(rowsOf(streamed(hostile, 4)).join("")).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
});

test("the theme follows the background of the terminal", () => {
  expect(themeForBackground("rgb:ffff/ffff/eeee")).toBe("light");
  expect(themeForBackground("rgb:1e/1e/2e")).toBe("dark");
  expect(themeForBackground("nonsense")).toBeUndefined();
});

test.each(["[a](", "![a](", "[a", "*a **b ", "_a_", "~a ", "> ", "- "])(
  "a message of %j again and again is shown as it is, at once",
  (part) => {
    const text = part.repeat(15_000);
    const pieces = cutMarkdown(safeText(text), 0, undefined, true).pieces;
    const shown = pieces.flatMap((piece) => pieceRows(piece, 60, theme)).join("");
    expect(shown.split(part.trim()[0] as string).length).toBeGreaterThan(15_000);
    const step = cutMarkdown(text.slice(0, 40_000), 0, undefined, false);
    expect(step.end).toBeLessThanOrEqual(40_000);
  },
);
