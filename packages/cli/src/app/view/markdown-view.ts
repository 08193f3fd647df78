/** Pieces of Markdown as rows. Text of models is made safe before it is read as Markdown. */
import { Markdown, type MarkdownTheme, setCapabilities } from "@earendil-works/pi-tui";
import { wrapped } from "../../terminal/revealed-text.ts";
import { highlightLine } from "./highlight.ts";
import type { Piece } from "./markdown-pieces.ts";
import type { Theme } from "./theme.ts";

// Links are written out: a link behind other words could lead anywhere.
setCapabilities({ images: null, trueColor: false, hyperlinks: false });

const INDENT = "  ";

export function pieceRows(piece: Piece, width: number, theme: Theme): readonly string[] {
  if (piece.kind === "code") return codeRows(piece.lines, piece.language, width, theme);
  const rows = new Markdown(piece.source, 0, 0, markdownTheme(theme)).render(width - INDENT.length);
  return rows.map((row) => `${INDENT}${row.trimEnd()}`);
}

function codeRows(
  lines: readonly string[],
  language: string,
  width: number,
  theme: Theme,
): readonly string[] {
  return lines.flatMap((line) =>
    wrapped(line.replaceAll("\t", "    "), width - INDENT.length - 2).map(
      (row) => `${INDENT}${theme.dim("│")} ${highlightLine(row, language.toLowerCase(), theme)}`,
    ),
  );
}

function markdownTheme(theme: Theme): MarkdownTheme {
  return {
    heading: (text) => theme.bold(theme.accent(text)),
    link: theme.underline,
    linkUrl: theme.dim,
    code: theme.code,
    codeBlock: theme.code,
    codeBlockBorder: theme.dim,
    quote: theme.italic,
    quoteBorder: theme.dim,
    hr: theme.dim,
    listBullet: theme.accent,
    bold: theme.bold,
    italic: theme.italic,
    strikethrough: theme.strike,
    underline: theme.underline,
    highlightCode: (code, language) =>
      code.split("\n").map((line) => highlightLine(line, language?.toLowerCase() ?? "", theme)),
  };
}
