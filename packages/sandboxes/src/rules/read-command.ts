/**
 * Reads the text of a command as one program and its words, if it is nothing more.
 *
 * The parser gives the structure. The words, and the text between them, are read here a second time, with only those
 * characters that mean themselves in every shell. A command is understood only if both readings agree.
 */
import { type CommandArgument, forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";

export type CommandReading =
  /** The program first, as a shell would hand them over. */
  | { readonly words: readonly string[]; readonly problem?: undefined }
  /** Why it was not understood, without a full stop: it follows `it`. */
  | { readonly problem: string };

/** Longer texts are not read at all. */
const MAX_CHARACTERS = 4_096;

/** Anything that is not seen, or is a blank other than the space. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

export function readCommand(text: string): CommandReading {
  if (text.length > MAX_CHARACTERS) return { problem: `is longer than ${MAX_CHARACTERS} characters` };
  if (UNSEEN.test(text)) return { problem: "has line breaks, control, invisible or odd blank characters" };
  const script = parsed(text);
  if (script === undefined) return { problem: "is not a command the parser knows" };
  const found = onlyCommand(script);
  return "problem" in found ? found : plainWords(text, found);
}

/**
 * The programs named in a text, at any depth, each with the literal words behind it. For rules that refuse: a command
 * that they miss is still asked about.
 */
export function namedPrograms(text: string): readonly (readonly string[])[] {
  const script = text.length > 16 * MAX_CHARACTERS ? undefined : parsed(text, true);
  const found: (readonly string[])[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Command" && node.name) {
      const words = [node.name, ...node.args].map((word) => ("text" in word ? literal(word) : ""));
      found.push([(words[0] ?? "").replace(/^.*\//, ""), ...words.slice(1)]);
    }
    forEachChild(node, visit);
  };
  if (script) visit(script);
  return found;
}

function literal(word: CommandArgument): string {
  return word.type === "Word" ? word.value : word.text;
}

/** The parser is tolerant and reports parts that it could not read. If it ever throws, nothing counts as read. */
function parsed(text: string, withErrors = false): ParsedScript | undefined {
  try {
    const script = parse(text);
    return (script.errors ?? []).length > 0 && !withErrors ? undefined : script;
  } catch {
    return undefined;
  }
}

interface Span {
  readonly pos: number;
  readonly end: number;
  readonly value: string;
}

type Found = readonly Span[] | { readonly problem: string };

function onlyCommand({ commands, shebang }: ParsedScript): Found {
  const [statement] = commands;
  if (statement === undefined || shebang !== undefined) return { problem: "is empty" };
  if (commands.length > 1) return { problem: "is more than one command" };
  if (statement.background) return { problem: "runs in the background" };
  const { command } = statement;
  if (command.type !== "Command") return { problem: "is more than one plain command" };
  if (command.redirects.length > 0) return { problem: "redirects input or output" };
  if (command.prefix.length > 0 || command.name === undefined) return { problem: "sets variables" };
  const words: Span[] = [command.name];
  for (const word of command.suffix) {
    if (word.type !== "Word") return { problem: "sets variables" };
    words.push(word);
  }
  return words;
}

/** Between words there are blanks and nothing else: no comment, no `;`, nothing the parser passed over. */
function plainWords(text: string, spans: readonly Span[]): CommandReading {
  const words: string[] = [];
  let at = 0;
  for (const { pos, end, value } of spans) {
    if (!/^ *$/.test(text.slice(at, pos)) || (at > 0 && pos === at))
      return { problem: "has more than words in it" };
    const word = plainWord(text.slice(pos, end));
    if (word === undefined || word !== value)
      return { problem: "has words that a shell may expand, or that are quoted in an unusual way" };
    words.push(word);
    at = end;
  }
  if (!/^ *$/.test(text.slice(at))) return { problem: "has more than words in it" };
  return { words };
}

/** Characters that mean themselves without quotes; `~` does behind a name, as in `HEAD~1`. */
const PIECE = /([\w./:@%+,^=-]|(?<=[A-Za-z0-9^~])~)+|'([^']*)'|"([^"$`\\!]*)"/gy;

/** The value of a word; undefined where a shell might do more than take its quotes off. */
function plainWord(raw: string): string | undefined {
  if (/^[=~]/.test(raw)) return undefined;
  let word = "";
  let at = 0;
  for (const piece of raw.matchAll(PIECE)) {
    const [all, , single, double] = piece;
    word += single ?? double ?? all;
    at += all.length;
  }
  return at === raw.length ? word : undefined;
}
