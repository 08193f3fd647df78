/** The page in the text that an older backend's `read` returns: numbered or plain, a reminder, or an error. */

import type { FileError } from "../backend.ts";
import { olderError } from "./adapt-errors.ts";

export type OlderPage =
  | { readonly content: string; readonly lines: number; readonly error?: undefined }
  | FileError;

const REMINDER = /^\s*(?:<[\w-]+>\s*)?System reminder: File exists but has empty contents/;
/** A single line with this start is an error. A file with only such a line looks like one too. */
const ERROR = /^Error(?: reading file[^\n]*)?: [^\n]*\n?$/;
/** `cat -n`, our bar, or an arrow; a line cut in pieces has them numbered `12.1`, `12.2`. */
const ROW = /^ *(\d+)(\.\d+)?(?:\t|│|→)/;
/** A remark of ours about a cut line. */
const REMARK = "… ";

/** `offset` is the requested one. */
export function parseOlderRead(text: string, offset: number): OlderPage {
  if (REMINDER.test(text)) return { content: "", lines: 0 };
  if (ERROR.test(text)) return olderError(text.trimEnd());
  const stripped = withoutNumbers(text, offset);
  if (stripped !== undefined) return { content: stripped.join("\n"), lines: stripped.length };
  const lines = text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return { content: text, lines };
}

/** The lines without their numbers; undefined unless every line has the number that is due. */
function withoutNumbers(text: string, offset: number): string[] | undefined {
  const lines: string[] = [];
  const rows = text.split("\n");
  if (rows.at(-1) === "") rows.pop();
  for (const row of rows) {
    if (row.startsWith(REMARK) && lines.length > 0) continue;
    const match = ROW.exec(row);
    if (match === null) return undefined;
    const [gutter, number, piece] = match;
    const rest = row.slice((gutter as string).length);
    const due = offset + lines.length + (piece === undefined ? 1 : 0);
    if (Number(number) !== due) return undefined;
    if (piece === undefined) lines.push(rest);
    else lines[lines.length - 1] += rest;
  }
  return lines.length === 0 ? undefined : lines;
}
