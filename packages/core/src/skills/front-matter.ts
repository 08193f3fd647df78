/**
 * The front matter at the top of a SKILL.md, and a quick reader for its common forms.
 *
 * The quick reader takes single-line keys and values, one level of `key: value` or of `- item`, and short lists in
 * brackets. For these its result equals a YAML parser's; it leaves any other form to the parser.
 */

/** Every scalar is text, as written: `1.0` stays `1.0`. */
export type FieldValue = string | readonly FieldValue[] | FieldMap;
export interface FieldMap extends ReadonlyMap<string, FieldValue> {}

/** UTF-16 code units. */
export const MAX_FRONT_MATTER_LENGTH = 64 * 1024;

export type FrontMatter =
  | { readonly text: string; readonly problem?: undefined }
  /** `open`: the end may be in the part of the text that was not given. */
  | { readonly problem: "none" | "open" | "long"; readonly text?: undefined };

const FIRST_LINE = /^\uFEFF?---[ \t]*\r?(?:\n|$)/;
const LAST_LINE = /^---[ \t]*\r?$/m;

/** `head` is the file or its beginning. */
export function frontMatterOf(head: string): FrontMatter {
  const first = FIRST_LINE.exec(head);
  if (first === null) return { problem: "none" };
  const rest = head.slice(first[0].length, first[0].length + MAX_FRONT_MATTER_LENGTH);
  const last = LAST_LINE.exec(rest);
  if (last !== null) return { text: rest.slice(0, last.index) };
  return { problem: rest.length === MAX_FRONT_MATTER_LENGTH ? "long" : "open" };
}

/** Tabs, other control characters, unusual line breaks and invisible characters are not plain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNUSUAL = /[\0-\t\v-\x1f\x7f-\x9f\u2028\u2029\uFEFF]/;
const ENTRY = /^([A-Za-z][\w-]{0,63}):(?: +(.*))?$/;
const NESTED_ENTRY = /^( +)([A-Za-z][\w-]{0,63}):(?: +(.*))?$/;
const ITEM = /^( *)- +(.*)$/;
const BLANK = /^ *$/;
/** Neither an indicator of YAML at its start, nor something in it that ends a plain scalar. */
const PLAIN = /^[^\s?:,[\]{}#&*!|>'"%@`-](?:[^:#]|:(?=\S)|(?<=\S)#)*$/;
const SINGLE_QUOTED = /^'((?:[^']|'')*)'$/;
const DOUBLE_QUOTED = /^"([^"\\]*)"$/;
const SHORT_LIST = /^\[ *([\w./-]+(?: *, *[\w./-]+)*) *\]$/;

interface Lines {
  readonly all: readonly string[];
  next: number;
}

/** Undefined: not one of the simple forms, or not YAML at all. */
export function readSimpleFields(text: string): FieldMap | undefined {
  const unix = text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
  if (UNUSUAL.test(unix)) return undefined;
  const lines: Lines = { all: unix.split("\n"), next: 0 };
  const fields = new Map<string, FieldValue>();
  while (lines.next < lines.all.length) {
    const line = lines.all[lines.next++] as string;
    if (BLANK.test(line)) continue;
    const [, key, written = ""] = ENTRY.exec(line) ?? [];
    if (key === undefined || fields.has(key)) return undefined;
    const value = fieldValue(trimmed(written), lines);
    if (value === undefined) return undefined;
    fields.set(key, value);
  }
  return fields.size === 0 ? undefined : fields;
}

function fieldValue(written: string, lines: Lines): FieldValue | undefined {
  if (written === "") return blockBelow(lines);
  if (goesOn(lines)) return undefined;
  const items = SHORT_LIST.exec(written)?.[1]?.split(/ *, */);
  if (items === undefined) return scalar(written);
  return items.every((item) => PLAIN.test(item)) ? items : undefined;
}

function scalar(written: string): string | undefined {
  if (PLAIN.test(written)) return written;
  const single = SINGLE_QUOTED.exec(written)?.[1];
  return single === undefined ? DOUBLE_QUOTED.exec(written)?.[1] : single.replaceAll("''", "'");
}

/** A line that is not at the margin belongs to the value above it. */
function goesOn({ all, next }: Lines): boolean {
  let following = next;
  while (following < all.length && BLANK.test(all[following] as string)) following += 1;
  return all[following]?.startsWith(" ") ?? false;
}

function blockBelow(lines: Lines): FieldValue | undefined {
  while (lines.next < lines.all.length && BLANK.test(lines.all[lines.next] as string)) lines.next += 1;
  const line = lines.all[lines.next] ?? "";
  if (ITEM.test(line)) return listBelow(lines);
  return line.startsWith(" ") ? mapBelow(lines) : "";
}

function listBelow(lines: Lines): readonly string[] | undefined {
  const items: string[] = [];
  let margin: string | undefined;
  for (; lines.next < lines.all.length; lines.next++) {
    const line = lines.all[lines.next] as string;
    if (BLANK.test(line)) continue;
    const [, indent = "", written = ""] = ITEM.exec(line) ?? [];
    if (written === "") return line.startsWith(" ") || line.startsWith("-") ? undefined : items;
    margin ??= indent;
    const item = indent === margin ? scalar(trimmed(written)) : undefined;
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function mapBelow(lines: Lines): FieldMap | undefined {
  const map = new Map<string, string>();
  let margin: string | undefined;
  for (; lines.next < lines.all.length; lines.next++) {
    const line = lines.all[lines.next] as string;
    if (BLANK.test(line)) continue;
    if (!line.startsWith(" ")) return map;
    const [, indent, key = "", written = ""] = NESTED_ENTRY.exec(line) ?? [];
    margin ??= indent;
    if (indent === undefined || indent !== margin || map.has(key)) return undefined;
    const value = written === "" ? "" : scalar(trimmed(written));
    if (value === undefined) return undefined;
    map.set(key, value);
  }
  return map;
}

/** Spaces only: others are part of a plain scalar. */
function trimmed(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end -= 1;
  return text.slice(0, end);
}
