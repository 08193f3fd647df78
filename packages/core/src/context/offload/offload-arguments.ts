/** Arguments of calls that are too long to be sent again and again. */
import type { AIMessage, ToolCall } from "@langchain/core/messages";
import { textHash } from "../../text/text-hash.ts";
import { withArgumentsEverywhere } from "./call-arguments.ts";
import { exceeds } from "./offload-limits.ts";

export interface LongArgument {
  readonly call: ToolCall;
  readonly name: string;
  /** JSON where it is no string. */
  readonly text: string;
}

/**
 * Maps arguments to files. An argument is known by its text: ids of calls change on the way, and people edit
 * arguments.
 */
export interface ArgumentMark {
  readonly name: string;
  readonly characters: number;
  readonly hash: string;
  readonly path: string;
  readonly limit: number;
  readonly canRead: boolean;
}

export function longArguments(message: AIMessage, tokens: number | undefined): LongArgument[] {
  if (tokens === undefined) return [];
  return (message.tool_calls ?? []).flatMap((call) =>
    Object.entries(call.args ?? {}).flatMap(([name, value]) => {
      if (characters(value, tokens) <= tokens) return [];
      const text = argumentText(value);
      return exceeds(text, tokens) ? [{ call, name, text }] : [];
    }),
  );
}

function argumentText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Counted until it is clear that there are more than `enough`. */
function characters(value: unknown, enough: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let total = 2;
  for (const [key, item] of Object.entries(value)) {
    total += key.length + characters(item, enough - total);
    if (total > enough) return total;
  }
  return total;
}

/** The message with `words` in the place of the arguments that have a mark, wherever the message repeats them. */
export function shortenArguments(
  message: AIMessage,
  marks: readonly ArgumentMark[],
  words: (text: string, mark: ArgumentMark) => string,
): AIMessage {
  const edits = new Map<string, Record<string, unknown>>();
  for (const call of message.tool_calls ?? []) {
    const args = shortArguments(call.args ?? {}, marks, words);
    if (args !== undefined) edits.set(call.id ?? "", args);
  }
  return edits.size === 0 ? message : withArgumentsEverywhere(message, edits);
}

function shortArguments(
  args: Record<string, unknown>,
  marks: readonly ArgumentMark[],
  words: (text: string, mark: ArgumentMark) => string,
): Record<string, unknown> | undefined {
  let short: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(args)) {
    const candidates = marks.filter((mark) => mark.name === name);
    if (candidates.length === 0) continue;
    const text = argumentText(value);
    const mark = candidates.find(
      ({ characters: length, hash }) => length === text.length && hash === textHash(text),
    );
    if (mark !== undefined) short = { ...(short ?? args), [name]: words(text, mark) };
  }
  return short;
}
