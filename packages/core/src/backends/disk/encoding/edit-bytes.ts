/**
 * Replaces text in the bytes of a file: encoding, byte order mark, line ends and every byte that was
 * not replaced stay as they are.
 */
import { isUtf8 } from "node:buffer";
import { replaceText } from "../../../text/edit.ts";
import { normalizeLineEnds } from "../../../text/lines.ts";
import { mimeTypeOfBytes } from "../../../text/mime.ts";
import type { FileError } from "../../backend.ts";
import { HEAD_BYTES, isBinaryHead } from "./detect-encoding.ts";
import { LiteralFinder } from "./literal-finder.ts";
import {
  decodePart,
  encodePart,
  formatOf,
  markLength,
  missingCharacter,
  type TextFormat,
} from "./text-codec.ts";

export type EditedBytes =
  | {
      readonly bytes: Buffer;
      /** The same in pieces, where they need not be put together to be written. */
      readonly pieces?: readonly Buffer[];
      readonly occurrences: number;
      readonly error?: undefined;
    }
  | FileError;

/** Accepts as `oldString` any part of the file as a read shows it. `path` is only for messages. */
export function editBytes(
  bytes: Buffer,
  oldString: string,
  newString: string,
  replaceAll: boolean,
  path?: string,
): EditedBytes {
  const quick = editPlainUtf8(bytes, oldString, newString, replaceAll);
  if (quick !== undefined) return quick;
  const format = formatOf(bytes);
  if (format === undefined) return notText(bytes, path);
  const start = markLength(format);
  const text = decodePart(bytes.subarray(start), format.encoding);
  const [old, replacement] = withoutMark(text, oldString, newString, format);
  const edited = replaceText(text, old, replacement, replaceAll);
  if (edited.error !== undefined) return edited;
  const missing = missingCharacter(replacement, format.encoding);
  if (missing !== undefined) return missing;
  const body = encodePart(edited.text, format.encoding);
  return { bytes: Buffer.concat([bytes.subarray(0, start), body]), occurrences: edited.occurrences };
}

const ASTRAY_IN_UTF8 = Buffer.from([0xf4, 0x8f]);

/**
 * The usual edit: UTF-8 with simple line ends, without decoding the file. Undefined for any other edit, and for
 * failures, which need a message.
 */
function editPlainUtf8(
  bytes: Buffer,
  oldString: string,
  newString: string,
  replaceAll: boolean,
): EditedBytes | undefined {
  const old = normalizeLineEnds(oldString);
  if (old === "" || old === normalizeLineEnds(newString)) return undefined;
  if (!old.isWellFormed() || !newString.isWellFormed()) return undefined;
  if (old.startsWith("\ufeff")) return undefined;
  const hasLines = old.includes("\n") || newString.includes("\n");
  if (hasLines && bytes.includes(13)) return undefined;
  if (isBinaryHead(bytes.subarray(0, HEAD_BYTES)) || !isUtf8(bytes)) return undefined;
  const needle = Buffer.from(old);
  const replacement = Buffer.from(newString);
  if ([bytes, needle, replacement].some((part) => part.includes(ASTRAY_IN_UTF8))) return undefined;
  const found = occurrencesOf(needle, bytes, replaceAll ? Number.POSITIVE_INFINITY : 2);
  if (found.length === 0 || (found.length > 1 && !replaceAll)) return undefined;
  const pieces = piecesOf(bytes, found, needle.length, replacement);
  return {
    pieces,
    get bytes() {
      return Buffer.concat(pieces);
    },
    occurrences: found.length,
  };
}

function occurrencesOf(needle: Buffer, bytes: Buffer, most: number): number[] {
  const found: number[] = [];
  const finder = new LiteralFinder(needle);
  for (let at = finder.indexIn(bytes, 0); at !== -1; at = finder.indexIn(bytes, at + needle.length)) {
    found.push(at);
    if (found.length === most) break;
  }
  return found;
}

function piecesOf(bytes: Buffer, found: readonly number[], length: number, replacement: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const at of found) {
    pieces.push(bytes.subarray(kept, at), replacement);
    kept = at + length;
  }
  pieces.push(bytes.subarray(kept));
  return found.length <= MAX_PIECES ? pieces : [Buffer.concat(pieces)];
}

/** More of them are not worth a write each. */
const MAX_PIECES = 8;

/** Readers do not see the byte order mark; an `oldString` that begins with one means the start of the file. */
function withoutMark(
  text: string,
  oldString: string,
  newString: string,
  { bom }: TextFormat,
): [string, string] {
  if (!bom || !oldString.startsWith("\ufeff")) return [oldString, newString];
  if (normalizeLineEnds(text).includes(normalizeLineEnds(oldString))) return [oldString, newString];
  return [oldString.slice(1), newString.startsWith("\ufeff") ? newString.slice(1) : newString];
}

function notText(bytes: Buffer, path: string | undefined): FileError {
  const mimeType = mimeTypeOfBytes(path ?? "", bytes, false);
  const name = path === undefined ? "The file" : `'${path}'`;
  return { error: `${name} is not a text file (${mimeType})`, code: "NOT_TEXT" };
}
