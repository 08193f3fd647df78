/**
 * The conversation as rows: those that cannot change any more, which are given out once for the scrollback, and those
 * that still can, which belong to the live region.
 */
import type { Screen, ShownMessage } from "@deepwright/protocol";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { safeLine, safeText } from "../../terminal/safe-text.ts";
import { splitAdditions } from "../session/additions.ts";
import { type CallContext, callRows, isHiddenCall, isSettled } from "./call-rows.ts";
import { beginsWithItem, cutMarkdown, type Fence } from "./markdown-pieces.ts";
import { pieceRows } from "./markdown-view.ts";
import type { Theme } from "./theme.ts";

type Entry =
  | { readonly kind: "message"; readonly id: string }
  | { readonly kind: "notice"; readonly rows: (width: number) => readonly string[] };

/** How much of a message is in the scrollback. */
interface Progress {
  readonly hasReasoning: boolean;
  readonly textEnd: number;
  readonly fence: Fence | undefined;
  /** A list is open at `textEnd`. */
  readonly isList: boolean;
  readonly calls: number;
}

const NOT_BEGUN: Progress = { hasReasoning: false, textEnd: 0, fence: undefined, isList: false, calls: 0 };
type Block = "text" | "call" | "user" | "notice" | "reasoning";

export class Transcript {
  private entries: Entry[] = [];
  private readonly known = new Set<string>();
  private readonly progress = new Map<string, Progress>();
  /** The block of the last committed row; blank rows separate blocks. */
  private lastBlock: Block | undefined;

  /** Rows of our own in the order of the conversation: answers of commands, warnings, the end of a run. */
  note(rows: (width: number) => readonly string[]): void {
    this.entries.push({ kind: "notice", rows });
  }

  /** The same before everything that can still change: what a person is asked must stand there as a whole. */
  noteNow(rows: (width: number) => readonly string[]): void {
    this.entries.unshift({ kind: "notice", rows });
  }

  /** Messages that are on the screen now; new ones come after what is there. */
  follow(screen: Screen): void {
    for (const { id } of screen.main.messages) {
      if (this.known.has(id)) continue;
      this.known.add(id);
      this.entries.push({ kind: "message", id });
    }
  }

  /** Rows that are final, once. */
  commit(screen: Screen, width: number, context: CallContext): readonly string[] {
    const messages = new Map(screen.main.messages.map((message) => [message.id, message]));
    const rows: string[] = [];
    for (;;) {
      const [entry] = this.entries;
      if (entry === undefined) break;
      if (entry.kind === "notice") rows.push(...this.block("notice", entry.rows(width)));
      else {
        const message = messages.get(entry.id);
        if (message && !this.commitMessage(message, width, context, rows)) break;
        this.progress.delete(entry.id);
      }
      this.entries.shift();
    }
    return rows;
  }

  /** Rows that may still change. */
  live(screen: Screen, width: number, context: CallContext): readonly string[] {
    const messages = new Map(screen.main.messages.map((message) => [message.id, message]));
    return this.entries.flatMap((entry) => {
      if (entry.kind === "notice") return ["", ...entry.rows(width)];
      const message = messages.get(entry.id);
      return message ? liveMessage(message, this.progress.get(entry.id) ?? NOT_BEGUN, width, context) : [];
    });
  }

  /** False: more of the message will come. */
  private commitMessage(message: ShownMessage, width: number, context: CallContext, rows: string[]): boolean {
    const { theme } = context;
    if (message.role === "system") return true;
    if (message.role !== "assistant") {
      rows.push(...this.block("user", userRows(message, width, theme)));
      return true;
    }
    let progress = this.progress.get(message.id) ?? NOT_BEGUN;
    const isPastThinking = message.text !== "" || message.calls.length > 0 || !message.streaming;
    if (!progress.hasReasoning && message.reasoning !== "" && isPastThinking) {
      rows.push(...this.block("reasoning", reasoningRows(message.reasoning, theme)));
      progress = { ...progress, hasReasoning: true };
    }
    const isTextWhole = !message.streaming || message.calls.length > 0;
    const cut = cutMarkdown(safeText(message.text), progress.textEnd, progress.fence, isTextWhole);
    for (const [i, piece] of cut.pieces.entries()) {
      const isCode = piece.kind === "code" && progress.fence !== undefined;
      const isItem = i === 0 && piece.kind === "markdown" && progress.isList && beginsWithItem(piece.source);
      const isNext = isCode || isItem;
      rows.push(...this.block("text", pieceRows(piece, width, theme), isNext || undefined));
    }
    const isList = cut.pieces.length === 0 ? progress.isList : cut.isList === true;
    progress = { ...progress, textEnd: cut.end, fence: cut.fence, isList };
    while (isTextWhole && progress.calls < message.calls.length) {
      const call = message.calls[progress.calls];
      if (call === undefined || !isSettled(call)) break;
      if (!isHiddenCall(call)) rows.push(...this.block("call", callRows(call, width, context)));
      progress = { ...progress, calls: progress.calls + 1 };
    }
    this.progress.set(message.id, progress);
    return !message.streaming && progress.calls >= message.calls.length;
  }

  /** With a blank row before it, unless it goes on with calls or inside a code block. */
  private block(
    kind: Block,
    rows: readonly string[],
    isNext = kind === "call" && this.lastBlock === "call",
  ): readonly string[] {
    if (rows.length === 0) return [];
    const isFirst = this.lastBlock === undefined;
    this.lastBlock = kind;
    return isNext || isFirst ? rows : ["", ...rows];
  }
}

function liveMessage(
  message: ShownMessage,
  progress: Progress,
  width: number,
  context: CallContext,
): readonly string[] {
  if (message.role !== "assistant") return ["", ...userRows(message, width, context.theme)];
  const { theme } = context;
  const rest = safeText(message.text).slice(progress.textEnd);
  const text = progress.fence
    ? pieceRows({ kind: "code", language: progress.fence.language, lines: rest.split("\n") }, width, theme)
    : rest.trim() === ""
      ? []
      : [
          ...(progress.isList && beginsWithItem(rest) ? [] : [""]),
          ...pieceRows({ kind: "markdown", source: rest }, width, theme),
        ];
  const thinking =
    message.reasoning !== "" && !progress.hasReasoning
      ? ["", theme.dim(`✻ Thinking… ${tail(message.reasoning, width - 14)}`)]
      : [];
  const calls = message.calls.slice(progress.calls).flatMap((call) => callRows(call, width, context));
  return [...thinking, ...text, ...(calls.length > 0 ? ["", ...calls] : [])];
}

function tail(text: string, width: number): string {
  const line = safeText(text).replace(/\s+/g, " ").trim();
  return line.slice(-Math.max(width, 10));
}

/** A message of a person, marked at its side. */
export function userRows(message: ShownMessage, width: number, theme: Theme): readonly string[] {
  const text = safeText(message.text).replaceAll("\t", "    ");
  const media =
    message.media.length > 0
      ? `\n[${message.media.length} attachment${message.media.length > 1 ? "s" : ""}]`
      : "";
  const { words, additions } = splitAdditions(text);
  const rows = wrapTextWithAnsi(`${words}${media}`.trim(), width - 2);
  return [
    ...rows.map((row, i) => `${theme.user(i === 0 ? "›" : " ")} ${theme.bold(row)}`),
    ...additions.map((line) => theme.dim(`  + ${safeLine(line, width - 4)}`)),
  ];
}

function reasoningRows(reasoning: string, theme: Theme): readonly string[] {
  const words = reasoning.trim().split(/\s+/).length;
  return [theme.dim(theme.italic(`✻ Thought (${words} words; Ctrl-O shows them)`))];
}
