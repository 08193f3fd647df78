/** Text for the model about a memory file that changed since the model saw it. */
import { lineDifference } from "../text/line-difference.ts";
import { delimited, harmless, named } from "./delimit.ts";
import { isMissing, isSame, type MemoryFile, shownText } from "./memory-file.ts";
import { cutWords, fileBlock, problemWords } from "./section.ts";

/**
 * The whole new content, or only the lines that differ where that is much less. Undefined: nothing to tell.
 * `limit` in characters.
 */
export function changeWords(
  before: MemoryFile,
  now: MemoryFile,
  visible: ReadonlySet<string>,
  limit: number,
): string | undefined {
  if (isSame(before, now)) return undefined;
  if (isMissing(now)) return `The memory file ${named(now.path)} was deleted: its content no longer applies.`;
  if (now.problem !== undefined) return problemWords(now);
  const shown = shownText(now, limit);
  const intro = `The memory file ${named(now.path)} ${before.mark === undefined ? "is there now" : "changed"}`;
  const difference = before.text === undefined ? undefined : differenceOf(before, now);
  if (difference === "")
    return `${intro} behind the part you were shown.${pointer(now, shown.lines, visible)}`;
  if (difference !== undefined && difference.length < shown.text.length / 2)
    return `${intro} in these lines:\n${delimited(now.untrusted ? "untrusted_change" : "memory_change", now.path, difference)}`;
  return `${intro}. It says:\n${fileBlock(now, shown, visible)}`;
}

function pointer(now: MemoryFile, lines: number | undefined, visible: ReadonlySet<string>): string {
  return lines === undefined ? "" : `\n${cutWords(now.path, lines, visible)}`;
}

function differenceOf(before: MemoryFile, now: MemoryFile): string {
  const whole = Number.POSITIVE_INFINITY;
  return lineDifference(shownText(before, whole).text, shownText(now, whole).text);
}

const NAMED_COMMENTS = 5;
const COMMENT_LENGTH = 200;

/** Comments that a tool call of the agent took out of a file. */
export function lossWords(path: string, lost: readonly string[], visible: ReadonlySet<string>): string {
  const named_ = lost.slice(0, NAMED_COMMENTS).map((comment) => shortened(comment));
  const more = lost.length > named_.length ? [`and ${lost.length - named_.length} more`] : [];
  const way = visible.has("edit_file") ? " Unless that was asked for, put them back." : "";
  const list = delimited("memory_comments", path, [...named_, ...more].join("\n"));
  return `${named(path)} lost comments that programs need.${way}\n${list}`;
}

function shortened(comment: string): string {
  const text = harmless(comment).replaceAll("\n", " ");
  return text.length > COMMENT_LENGTH ? `${text.slice(0, COMMENT_LENGTH)}…` : text;
}
