/** Which tools a person is asked about. A thread keeps it, so that it cannot be lost by going on. */
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";

/** The key of the state it is kept under. */
export const ASKED = "askedTools";

/** What `changes` stands for. */
const CHANGING: readonly string[] = ["write_file", "edit_file", "delete", "execute"];

/** What a thread brings along. */
export interface Asked {
  /** Of its last run; undefined when it never was said. */
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
 * `given` is the option: names with commas between them, or a word for many. What already waits is asked about in
 * any case: a run that did not know the question would lose it.
 */
export function askedTools(
  given: string | undefined,
  { kept = [], waiting }: Asked,
  known: readonly string[],
): readonly string[] {
  const wanted = given === undefined ? kept : named(given, known);
  return [...new Set([...wanted, ...waiting])];
}

function named(given: string, known: readonly string[]): readonly string[] {
  if (given === "none") return [];
  const names = given.split(",").map((name) => name.trim());
  return names.flatMap((name) => {
    if (name === "all") return known;
    if (name === "changes") return CHANGING.filter((tool) => known.includes(tool));
    if (known.includes(name)) return [name];
    throw usageError(
      `--ask names '${safeLine(name, 60)}', which is no tool.`,
      `The tools are ${known.join(", ")}; changes, all and none stand for several.`,
    );
  });
}
