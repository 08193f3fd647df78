/** Whether a rule is about a command. */
import type { ReadRule } from "./command-rule.ts";
import { isInside, optionAt } from "./option-shape.ts";

/** Whether the rule allows the command; `words` are the words of a parsed command. */
export function allows({ words: fixed, options, operands }: ReadRule, words: readonly string[]): boolean {
  if (!beginsWith(words, fixed)) return false;
  let text = operands === "text-then-paths" ? 1 : operands === "text" ? Number.POSITIVE_INFINITY : 0;
  let isAfterDashes = false;
  for (let at = fixed.length; at < words.length; at++) {
    const word = words[at] as string;
    if (word.startsWith("-")) {
      if (isAfterDashes) return false;
      const taken = word === "--" ? 0 : optionAt(words, at, options);
      if (taken === undefined) return false;
      if (taken === 0) isAfterDashes = true;
      else at += taken - 1;
    } else if (operands === "none") return false;
    else if (text > 0) text--;
    else if (!isInside(word)) return false;
  }
  return !isAfterDashes || operands !== "none";
}

/** A rule that asks or refuses; `programs` are all that a text names. */
export function concerns({ words }: ReadRule, programs: readonly (readonly string[])[]): boolean {
  return programs.some((program) => beginsWith(program, words));
}

function beginsWith(words: readonly string[], fixed: readonly string[]): boolean {
  return fixed.every((word, i) => words[i] === word);
}
