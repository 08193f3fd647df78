/**
 * Cuts Markdown that is still being written into pieces that cannot change any more and a rest that can. A piece
 * that was given once is shown once.
 */
import { isSlowMarkdown } from "@deepwright/protocol/screen";
import { Lexer, type Token } from "marked";

export type Piece =
  | { readonly kind: "markdown"; readonly source: string }
  /** Lines inside a fenced block. */
  | { readonly kind: "code"; readonly language: string; readonly lines: readonly string[] };

export interface CutMarkdown {
  readonly pieces: readonly Piece[];
  /** Characters of the text that the pieces cover. */
  readonly end: number;
  /** The language of the fenced block that is open at `end`; undefined outside of one. */
  readonly fence: Fence | undefined;
  /** A list without blank lines is open at `end`: its next items follow without one. */
  readonly isList?: boolean;
}

/** Whether a text continues a list that is open. */
export function beginsWithItem(text: string): boolean {
  return /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(text);
}

export interface Fence {
  readonly language: string;
  /** The characters that close it. */
  readonly mark: string;
}

/** `from` and `fence` are those of the cut before. A text that `isWhole` is cut to its end. */
export function cutMarkdown(
  text: string,
  from: number,
  fence: Fence | undefined,
  isWhole: boolean,
): CutMarkdown {
  const rest = text.slice(from);
  if (fence) return insideFence(text, from, fence, isWhole);
  if (rest === "") return { pieces: [], end: from, fence };
  if (isSlowMarkdown(rest)) return asItIs(text, from, isWhole);
  // Only where blocks end counts here.
  const tokens = new Lexer().blockTokens(rest);
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  const settled = isWhole ? tokens.length : Math.max(last, 0);
  const pieces: Piece[] = [];
  let end = from;
  for (const token of tokens.slice(0, settled)) {
    if (token.type !== "space") pieces.push(...piecesOf(token));
    end += token.raw.length;
  }
  if (isWhole) return { pieces, end: text.length, fence: undefined };
  const open = openFence(text.slice(end));
  if (open) {
    const inside = insideFence(text, end + open.length, open.fence, false);
    return { ...inside, pieces: [...pieces, ...inside.pieces] };
  }
  const items = settledItems(tokens[last]);
  if (items === "") return { pieces, end, fence: undefined };
  return {
    pieces: [...pieces, { kind: "markdown", source: items }],
    end: end + items.length,
    fence: undefined,
    isList: (tokens[last] as { loose?: boolean }).loose !== true,
  };
}

/** Signs of emphasis times characters. Each sign of a block costs a look through all of it. */
const MOST_LOOKED_AT = 2_000_000;

function isCostly({ raw }: Token): boolean {
  return raw.length > 1_000 && (raw.match(/[*_~]/g)?.length ?? 0) * raw.length > MOST_LOOKED_AT;
}

/** Lines that are no Markdown. */
function asItIs(text: string, from: number, isWhole: boolean): CutMarkdown {
  const end = isWhole ? text.length : text.lastIndexOf("\n") + 1;
  if (end <= from) return { pieces: [], end: from, fence: undefined };
  const lines = text.slice(from, end).replace(/\n$/, "").split("\n");
  return { pieces: [{ kind: "code", language: "", lines }], end, fence: undefined };
}

function piecesOf(token: Token): readonly Piece[] {
  if (token.type !== "code" && isCostly(token))
    return [{ kind: "code", language: "", lines: token.raw.replace(/\n+$/, "").split("\n") }];
  if (token.type === "code" && "codeBlockStyle" in token === false)
    return [{ kind: "code", language: String(token.lang ?? ""), lines: String(token.text).split("\n") }];
  return [{ kind: "markdown", source: token.raw }];
}

/** The whole first line of a fenced block that has begun. */
function openFence(text: string): { readonly fence: Fence; readonly length: number } | undefined {
  const match = /^(?:[ ]{0,3}\n)*[ ]{0,3}(`{3,}|~{3,})([^`\n]*)\n/.exec(text);
  if (!match) return undefined;
  const [all, mark = "", language = ""] = match;
  return { fence: { language: language.trim().split(/\s/)[0] ?? "", mark }, length: all.length };
}

function insideFence(text: string, from: number, fence: Fence, isWhole: boolean): CutMarkdown {
  const lines: string[] = [];
  const close = new RegExp(`^[ ]{0,3}${fence.mark[0] === "~" ? "~" : "`"}{${fence.mark.length},}[ ]*$`);
  let end = from;
  while (end < text.length) {
    const next = text.indexOf("\n", end);
    if (next === -1 && !isWhole) break;
    const line = text.slice(end, next === -1 ? undefined : next);
    end = next === -1 ? text.length : next + 1;
    if (close.test(line)) {
      const after = cutMarkdown(text, end, undefined, isWhole);
      return { ...after, pieces: [...codePiece(fence, lines), ...after.pieces] };
    }
    lines.push(line);
  }
  return { pieces: codePiece(fence, lines), end, fence: isWhole ? undefined : fence };
}

function codePiece({ language }: Fence, lines: readonly string[]): readonly Piece[] {
  return lines.length > 0 ? [{ kind: "code", language, lines }] : [];
}

/** The items of a list before its last one, so that a long list does not wait for its end. */
function settledItems(token: Token | undefined): string {
  if (token?.type !== "list" || token.items.length < 2) return "";
  return token.items
    .slice(0, -1)
    .map(({ raw }: Token) => raw)
    .join("");
}
