/** The tools that need approval (`--ask`). The thread stores them, so that its next runs ask too. */
import type { ToolEffect } from "deepwright";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";

/** The key of the state it is kept under. */
export const ASKED = "askedTools";

/** A tool of the run. */
export interface KnownTool {
  readonly name: string;
  readonly effect: ToolEffect;
}

/** The stored `--ask` of a thread. */
export interface Asked {
  /** From the last run; undefined if `--ask` was never given. */
  readonly kept: readonly string[] | undefined;
  /** Tools that wait for approval. */
  readonly waiting: readonly string[];
}

export const NOT_ASKED: Asked = { kept: undefined, waiting: [] };

/** Whether a run has to know the names of its tools to say which it asks about. */
export function mayAsk(given: string | undefined, { kept = [], waiting }: Asked): boolean {
  return given !== undefined || kept.length + waiting.length > 0;
}

/**
 * `given` is the option: names with commas between them, or a word for a group. Tools with waiting calls are always
 * included: a run without them would lose the question.
 */
export function askedTools(
  given: string | undefined,
  { kept = [], waiting }: Asked,
  known: readonly KnownTool[],
): readonly string[] {
  const wanted = given === undefined ? kept : named(given, known);
  return [...new Set([...wanted, ...waiting])];
}

function named(given: string, known: readonly KnownTool[]): readonly string[] {
  if (given === "none") return [];
  const tools = known.map(({ name }) => name);
  const names = given.split(",").map((name) => name.trim());
  return names.flatMap((name) => {
    if (name === "all") return tools;
    if (name === "changes") return known.filter(({ effect }) => effect !== "reads").map((tool) => tool.name);
    if (tools.includes(name)) return [name];
    throw usageError(
      `--ask names '${safeLine(name, 60)}', which is not a tool.`,
      `The tools are ${tools.join(", ")}; changes, all and none stand for several.`,
    );
  });
}
