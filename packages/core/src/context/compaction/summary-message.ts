/** The words that stand for the removed part of a conversation. */

import { ownValue } from "../../text/own-value.ts";
import type { KeptRequest } from "./compaction-request.ts";
import { clipToTokens } from "./summarize.ts";

/** File with the removed messages. */
export interface KeptRecord {
  /** Where it is; undefined: it could not be kept. */
  readonly path: string | undefined;
  readonly canRead: boolean;
}

export interface SummaryParts extends KeptRecord {
  readonly notes: string;
  /** Whether the notes were made without a model. */
  readonly isMechanical: boolean;
  /** The newest words of a person, where they were removed. */
  readonly request: KeptRequest | undefined;
  /** Parts of the state that stand beside the notes. */
  readonly pinned: readonly string[];
}

export function summaryWords(parts: SummaryParts): string {
  const { notes, isMechanical, request, pinned, path, canRead } = parts;
  const made = isMechanical
    ? "Notes made without a model, so they may miss things:"
    : "Notes about that part:";
  return [
    "[The earlier part of this conversation is no longer shown.]",
    `${made}\n<summary>\n${inert(notes)}\n</summary>`,
    ...(request === undefined ? [] : [requestWords(request, canRead)]),
    ...pinned,
    ...recordWords(path, canRead),
    "Go on from here; do not start over.",
  ].join("\n\n");
}

function requestWords({ text, path, isShortened = false }: KeptRequest, canRead: boolean): string {
  const how = isShortened ? ` (${shortWords(path, canRead)})` : ", word for word";
  return `The user's latest request${how}:\n<request>\n${inert(text)}\n</request>`;
}

/** Escapes text that looks like our frame around it. */
function inert(text: string): string {
  return text.replace(/<(?=\s*\/?\s*(?:summary|request|system))/gi, () => "&lt;");
}

function shortWords(path: string | undefined, canRead: boolean): string {
  if (path === undefined) return "shortened; the rest could not be kept";
  return canRead ? `shortened; all of it is in ${path}` : "shortened";
}

function recordWords(path: string | undefined, canRead: boolean): string[] {
  if (path === undefined) return ["The full record of that part could not be kept."];
  if (!canRead) return [];
  return [`The full record of that part is in ${path}. Look there for details that the notes do not have.`];
}

interface Pin {
  readonly key: string;
  /** Empty: nothing to tell. */
  words(value: unknown): string;
  /** The path of the complete text in the record, or a note that the model still sees it. */
  readonly place: string;
}

/** Parts of the state that stand beside the notes. */
const PINS: readonly Pin[] = [{ key: "todos", words: todoWords, place: "your last write_todos call" }];

/** Each part has at most this many tokens; a cut part says so. */
export function pinnedState(
  read: (key: string) => unknown,
  tokens: number,
  { path, canRead }: KeptRecord,
): string[] {
  return PINS.flatMap(({ key, words, place }) => {
    const whole = words(read(key));
    const shown = clipToTokens(whole, tokens);
    if (shown === whole) return whole === "" ? [] : [whole];
    const where = path !== undefined && canRead ? `; all of it is in ${place}, below or in ${path}` : "";
    return [`${shown}\n(shortened${where})`];
  });
}

const BOXES: Readonly<Record<string, string>> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };

function todoWords(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return "";
  const lines = (value as { content?: unknown; status?: unknown }[]).map(
    ({ content, status }) => `- ${ownValue(BOXES, String(status)) ?? "[ ]"} ${String(content ?? "")}`,
  );
  return ["Your todo list now ([x] done, [~] in progress):", ...lines].join("\n");
}
