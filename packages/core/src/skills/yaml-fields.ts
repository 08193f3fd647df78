/** Front matter in any form YAML has, read so that no file can do harm with it. */
import { type FieldMap, type FieldValue, readSimpleFields } from "./front-matter.ts";

/** The part of the `yaml` package that is used. */
export type Yaml = Pick<typeof import("yaml"), "parseDocument">;

export type Fields =
  | {
      readonly fields: FieldMap;
      /** Keys whose value was not valid YAML and was taken as text. */
      readonly quoted?: readonly string[];
      readonly problem?: undefined;
    }
  | { readonly problem: string; readonly fields?: undefined };

/** Deeper than any front matter; much deeper, and a parser that calls itself takes the process with it. */
const MAX_DEPTH = 32;
const STACKED = /(?:[-?:][ \t]+){16}/;
const MAX_ALIASES = 32;

/** Loads the parser only for a front matter that needs one. */
export async function readFields(text: string): Promise<Fields> {
  const fields = readSimpleFields(text);
  if (fields !== undefined) return { fields };
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const result = parseFields(text, await import("yaml"));
  if (text.length <= MAX_REMEMBERED_LENGTH) {
    if (parsed.size >= MAX_REMEMBERED) parsed.clear();
    parsed.set(text, result);
  }
  return result;
}

/** Front matter that needed the parser, which takes a hundred times as long. */
const parsed = new Map<string, Fields>();
const MAX_REMEMBERED = 1000;
const MAX_REMEMBERED_LENGTH = 8192;

export function parseFields(text: string, yaml: Yaml): Fields {
  const result = parseStrictly(text, yaml);
  if (result.problem === undefined) return result;
  const { quoted, keys } = withQuotes(text);
  if (keys.length === 0) return result;
  const again = parseStrictly(quoted, yaml);
  return again.problem === undefined ? { fields: again.fields, quoted: keys } : result;
}

function parseStrictly(text: string, { parseDocument }: Yaml): Fields {
  if (isDeep(text)) return { problem: "it is nested too deeply" };
  try {
    const document = parseDocument(text, {
      schema: "failsafe",
      // Ours, below: theirs compares each key with all others.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "silent",
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) return { problem: `it is not valid YAML: ${firstLine(problem.message)}` };
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
    if (!(value instanceof Map)) return { problem: "it is not a list of `key: value`" };
    const twice = repeatedKey(document.contents);
    if (twice !== undefined) return { problem: `it is not valid YAML: the key '${twice}' is there twice` };
    return { fields: value as ReadonlyMap<string, FieldValue> as FieldMap };
  } catch (error) {
    return { problem: `it is not valid YAML: ${firstLine(String((error as Error)?.message ?? error))}` };
  }
}

function isDeep(text: string): boolean {
  if (STACKED.test(text)) return true;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text[i];
    if (unit === "[" || unit === "{") depth += 1;
    else if ((unit === "]" || unit === "}") && depth > 0) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function repeatedKey(contents: unknown): string | undefined {
  const { items = [] } = contents as { items?: readonly { readonly key?: unknown }[] };
  const seen = new Set<string>();
  for (const { key } of items) {
    const name = String((key as { value?: unknown } | null)?.value ?? "");
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

const UNQUOTED = /^(name|description|license|compatibility|allowed-tools):[ \t]+([^\s'"[{|>&*!%@`#].*)$/gm;

/** A description with a colon in it is the usual mistake; other programs read it as text. */
function withQuotes(text: string): { readonly quoted: string; readonly keys: readonly string[] } {
  const keys: string[] = [];
  const quoted = text.replace(UNQUOTED, (line: string, key: string, rest: string) => {
    const value = rest.trimEnd();
    if (!/:(?:\s|$)/.test(value)) return line;
    keys.push(key);
    return `${key}: '${value.replaceAll("'", "''")}'`;
  });
  return { quoted, keys };
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] as string;
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
