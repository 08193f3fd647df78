/** The words that stand for the removed part of a conversation. */
import { clipToTokens } from "./summarize.ts";

export interface SummaryParts {
  readonly notes: string;
  /** Whether the notes were made without a model. */
  readonly isMechanical: boolean;
  /** The newest words of a person, where they were removed. */
  readonly request: string | undefined;
  /** Parts of the state that are told word for word. */
  readonly pinned: readonly string[];
  /** Where the record is; undefined: it could not be kept. */
  readonly path: string | undefined;
  readonly canRead: boolean;
}

export function summaryWords(parts: SummaryParts): string {
  const { notes, isMechanical, request, pinned, path, canRead } = parts;
  const made = isMechanical
    ? "Notes made without a model, so they may miss things:"
    : "Notes about that part:";
  return [
    "[The earlier part of this conversation is no longer shown.]",
    `${made}\n<summary>\n${notes}\n</summary>`,
    ...(request === undefined
      ? []
      : [`The user's latest request, word for word:\n<request>\n${request}\n</request>`]),
    ...pinned,
    ...recordWords(path, canRead),
    "Go on from here; do not start over.",
  ].join("\n\n");
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
}

/** What of the state is told beside the notes. */
const PINS: readonly Pin[] = [{ key: "todos", words: todoWords }];

export function pinnedState(read: (key: string) => unknown, tokens: number): string[] {
  return PINS.map(({ key, words }) => words(read(key)))
    .filter((words) => words !== "")
    .map((words) => clipToTokens(words, tokens));
}

const BOXES: Readonly<Record<string, string>> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };

function todoWords(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return "";
  const lines = (value as { content?: unknown; status?: unknown }[]).map(
    ({ content, status }) => `- ${BOXES[String(status)] ?? "[ ]"} ${String(content ?? "")}`,
  );
  return ["Your todo list now ([x] done, [~] in progress):", ...lines].join("\n");
}
