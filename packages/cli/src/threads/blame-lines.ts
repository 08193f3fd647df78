/** Blame of a file as lines of text. */
import type { Blame, BlameAuthor } from "@deepwright/checkpoint";
import { safeLine } from "../terminal/safe-text.ts";
import { timeText } from "./lines.ts";

const MOST_WORDS = 60;
const MOST_LINE = 500;
const MARK_WIDTH = 5;
const TASK_DIGITS = 8;

/** Each line with the number of its change, and the changes below. */
export function blameLines({ lines }: Pick<Blame, "lines">): string[] {
  const authors = [...new Set(lines.flatMap(({ by }) => (by ? [by] : [])))];
  const width = String(lines.length).length;
  const shown = lines.map(({ line, text, by }) => {
    const mark = by === undefined ? "" : `[${authors.indexOf(by) + 1}]`;
    return `${mark.padStart(MARK_WIDTH)} ${String(line).padStart(width)}  ${safeLine(text, MOST_LINE)}`;
  });
  if (authors.length === 0) return [...shown, "", "No line of it is of this thread."];
  return [...shown, "", ...authors.map((author, i) => `[${i + 1}] ${authorText(author)}`)];
}

/** The change in one line. */
export function authorText(author: BlameAuthor): string {
  const { step, at, call, command, prompt, isRestore } = author;
  const parts = [
    step === undefined ? "unfinished step" : `step ${step}`,
    nameOf(author),
    ...(isRestore ? [] : [command === undefined ? "file tool" : `$ ${safeLine(command, MOST_WORDS)}`]),
    timeText(at),
    ...(call === undefined ? [] : [`call ${safeLine(call, MOST_WORDS)}`]),
    ...(prompt === undefined ? [] : [`asked: ${safeLine(prompt, MOST_WORDS)}`]),
  ];
  return parts.join(" · ");
}

function nameOf({ agent, task, isRestore }: BlameAuthor): string {
  if (isRestore) return "you, by a restore";
  if (agent === undefined) return "agent";
  return `${safeLine(agent, MOST_WORDS)} (${safeLine(task ?? "", TASK_DIGITS)})`;
}
