/** A Markdown file with fields at its top. */

import { isRecord } from "deepwright/check-options";
import { parse } from "yaml";

export interface MarkdownFile {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*\r?(?:\n|$)/;
const MOST_CHARACTERS = 64 * 1024;

/** A file without fields is all body. Throws words about fields that are no YAML. */
export function readMarkdown(text: string): MarkdownFile {
  const found = FRONT_MATTER.exec(text.slice(0, MOST_CHARACTERS));
  if (found === null) return { fields: {}, body: text };
  let fields: unknown;
  try {
    fields = parse(found[1] ?? "", { maxAliasCount: 0 }) ?? {};
  } catch (error) {
    throw new Error(`its front matter is no YAML: ${String((error as Error).message).split("\n")[0]}`);
  }
  if (!isRecord(fields)) throw new Error("its front matter must be `key: value` lines");
  return { fields, body: text.slice(found[0].length) };
}
