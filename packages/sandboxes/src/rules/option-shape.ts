/** The options a rule lets through, and whether the words of a command are made of them. */

type ValueKind = "number" | "text" | "path";

export interface OptionShape {
  /** With its dashes; `-<number>` stands for itself. */
  readonly name: string;
  /** Absent: it takes no value. */
  readonly value?: ValueKind;
  /** The value may be left out; then it must be joined to the name. */
  readonly isOptional?: boolean;
}

const NUMBER_OPTION = "-<number>";
const SHAPE = /^(--?[A-Za-z0-9][\w-]*)(?:[ =]<(number|text|path)>|\[=<(number|text|path)>\])?$/;

/** Undefined where the text is none. */
export function optionShape(text: string): OptionShape | undefined {
  if (text === NUMBER_OPTION) return { name: text };
  const [, name, value, optional] = SHAPE.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (optional !== undefined) return { name, value: optional as ValueKind, isOptional: true };
  return value === undefined ? { name } : { name, value: value as ValueKind };
}

/** Number of words that the option at `at` takes, 1 or 2; undefined: it is none of these options. */
export function optionAt(
  words: readonly string[],
  at: number,
  shapes: readonly OptionShape[],
): 1 | 2 | undefined {
  const word = words[at] as string;
  const shape = shapes.find(({ name }) => name === word);
  if (shape) return shape.value === undefined || shape.isOptional ? 1 : withNext(shape.value, words[at + 1]);
  if (/^-\d+$/.test(word)) return shapes.some(({ name }) => name === NUMBER_OPTION) ? 1 : undefined;
  if (!word.startsWith("--")) return cluster(word.slice(1), words[at + 1], shapes);
  const equals = word.indexOf("=");
  const joined = shapes.find(({ name, value }) => value !== undefined && name === word.slice(0, equals));
  return joined && isValue(joined.value, word.slice(equals + 1)) ? 1 : undefined;
}

/** Letters behind one dash, as in `-la` and `-n5`: the last may have a value. */
function cluster(
  letters: string,
  next: string | undefined,
  shapes: readonly OptionShape[],
): 1 | 2 | undefined {
  for (let i = 0; i < letters.length; i++) {
    const shape = shapes.find(({ name }) => name === `-${letters[i]}`);
    if (shape === undefined) return undefined;
    if (shape.value === undefined) continue;
    const rest = letters.slice(i + 1);
    if (rest === "") return shape.isOptional ? 1 : withNext(shape.value, next);
    return isValue(shape.value, rest) ? 1 : undefined;
  }
  return letters === "" ? undefined : 1;
}

/** A value in a word of its own never begins with a dash: a program that takes none there would see an option. */
function withNext(kind: ValueKind, next: string | undefined): 2 | undefined {
  return next !== undefined && !next.startsWith("-") && isValue(kind, next) ? 2 : undefined;
}

function isValue(kind: ValueKind | undefined, value: string): boolean {
  if (kind === "number") return /^\+?\d{1,12}$/.test(value);
  return kind === "path" ? isInside(value) : kind === "text";
}

/** Whether a path, or the path behind a colon, stays below the directory, judged by its text. */
export function isInside(word: string): boolean {
  if (word === "") return false;
  return word.split(":").every((part) => !/^[/~]/.test(part) && !part.split(/[/\\]/).includes(".."));
}
