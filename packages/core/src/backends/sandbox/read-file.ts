/**
 * Reading a file of a sandbox: all of it where it is small, else one page cut out where the file lies.
 *
 * The core utilities know `\n` alone as a line end, so a page of a large file is theirs only where no lone `\r`
 * stands before it; where one does, and in encodings they cannot cut, the file comes whole. The script leaves out a page
 * that would not be used, as far as it can tell.
 */
import { isUtf8 } from "node:buffer";
import { mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
import { normalizeReadPagination, type Page, pageOf } from "../../text/page.ts";
import type { ReadResult } from "../backend.ts";
import { byteOrderMark, type Encoding, HEAD_BYTES, isBinaryHead } from "../disk/detect-encoding.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { MAX_BINARY_BYTES, MAX_PAGE_BYTES } from "../disk/read-page.ts";
import { decodeBytes, decodePart, encodingOf } from "../disk/text-codec.ts";
import { type KnownFiles, wholeCharacters } from "./known-files.ts";
import { MAX_WHOLE_BYTES } from "./limits.ts";
import { tooLarge } from "./refusal.ts";
import { type AskOptions, noAnswer, type Reply, type ScriptRunner } from "./script-runner.ts";
import { READ } from "./scripts.ts";

/** Up to this many bytes a file comes whole, so that its lines are counted. */
const COUNTED_BYTES = 1_000_000;
/** Bytes of a large file that come before the page. */
const HEAD_SAMPLE = 4096;
const MAX_LINES = 1_000_000_000;

export interface WholeFile {
  readonly bytes: Buffer;
  /** ISO 8601. */
  readonly modified: string;
}

interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** Throws a `FileFailure` when there is no such file or it is too large. */
export async function readWhole(runner: ScriptRunner, options: AskOptions): Promise<WholeFile> {
  return wholeOf(await askWhole(runner, options), runner, options);
}

/** The file as the script gives it: `W` with its content, `D` to be downloaded, another letter where it is too large. */
export function askWhole(runner: ScriptRunner, options: AskOptions): Promise<Reply> {
  return runner.demand(READ, [options.path, 0, 1, MAX_WHOLE_BYTES, 1], options);
}

/** The file that a script has printed, or named to be downloaded, with a sample or without. */
export async function wholeOf(reply: Reply, runner: ScriptRunner, options: AskOptions): Promise<WholeFile> {
  const { facts, rest } = headerOf(reply);
  if (!["W", "D", "S"].includes(reply.kind) || facts[0] > MAX_WHOLE_BYTES)
    throw tooLarge(options.path, facts[0], MAX_WHOLE_BYTES);
  const bytes = reply.kind === "W" ? rest : await runner.download(options.path, options);
  const modified = new Date(facts[1] * 1000).toISOString();
  return { bytes, modified };
}

/** What a script answers with `S`: the SHA-256 of the file, and its encoding; undefined when it is not text. */
export function sampleOf({ bytes }: Reply): {
  readonly sum: string;
  readonly encoding: Encoding | undefined;
} {
  const end = bytes.indexOf(10);
  const [, , sum = ""] = bytes.toString("latin1", 0, end).split(" ");
  const head = bytes.subarray(end + 1, end + 1 + HEAD_BYTES);
  if (isBinaryHead(head)) return { sum, encoding: undefined };
  return { sum, encoding: byteOrderMark(head)?.encoding ?? encodingOf(bytes.subarray(end + 1 + HEAD_BYTES)) };
}

export async function readFile(
  runner: ScriptRunner,
  files: KnownFiles,
  options: AskOptions,
  offset?: number,
  limit?: number,
): Promise<ReadResult> {
  const { path } = options;
  const window = normalizeReadPagination(offset, limit);
  const whole = Number.isFinite(window.limit) ? COUNTED_BYTES : MAX_WHOLE_BYTES;
  const lines = [window.offset, Math.min(window.limit, MAX_LINES)];
  const reply = await runner.demand(READ, [path, ...lines, whole, MAX_PAGE_BYTES + 1], options);
  const header = headerOf(reply);
  const [size] = header.facts;
  if (reply.kind === "W") {
    files.note(path, size, header.rest);
    return pageOfBytes(header.rest, path, window);
  }
  const page = reply.kind === "P" ? cutPage(header, path, window) : undefined;
  if (page !== undefined) {
    files.note(path, size, header.rest.subarray(HEAD_SAMPLE));
    return page;
  }
  const most = reply.kind === "B" ? MAX_BINARY_BYTES : MAX_WHOLE_BYTES;
  if (size > most) throw tooLarge(path, size, most);
  const bytes = await runner.download(path, options);
  files.note(path, bytes.length, bytes);
  return pageOfBytes(bytes, path, window);
}

function pageOfBytes(bytes: Buffer, path: string, { offset, limit }: Window): ReadResult {
  const decoded = decodeBytes(bytes);
  if (decoded === undefined)
    return { content: new Uint8Array(bytes), mimeType: mimeTypeOfBytes(path, bytes, false) };
  const page = pageOf(decoded.text, offset, limit);
  if (page.error !== undefined) return page;
  const mimeType = mimeTypeOfText(path);
  return page.totalLines === undefined ? { ...page, mimeType, size: bytes.length } : { ...page, mimeType };
}

/** Undefined where the page may not be what was cut out. */
function cutPage({ facts, rest }: Header, path: string, window: Window): ReadResult | undefined {
  const [size, , skipped = 0, ended = 0] = facts;
  const head = rest.subarray(0, HEAD_SAMPLE);
  const piece = rest.subarray(HEAD_SAMPLE);
  if (isBinaryHead(head) || !isUtf8(wholeCharacters(head))) return undefined;
  if (piece.length === 0) throw pastEnd(window.offset, skipped + (ended > 0 ? 0 : 1));
  const isCut = piece.length > MAX_PAGE_BYTES;
  const bytes = wholeCharacters(isCut ? piece.subarray(0, MAX_PAGE_BYTES) : piece);
  if (!isUtf8(bytes) && size <= MAX_WHOLE_BYTES) return undefined;
  const text = decodePart(bytes, isUtf8(bytes) ? "utf-8" : encodingOf(bytes.subarray(firstHigh(bytes))));
  const shown = window.offset === 0 ? text.replace(/^\ufeff/, "") : text;
  return placePage(pageOf(shown, 0, window.limit) as Page, isCut, path, window.offset, size);
}

/** `page` was taken from text that begins at `offset` and, where it is cut, may end within a line. */
function placePage(page: Page, isCut: boolean, path: string, offset: number, size: number): ReadResult {
  const shown = page.endLine ?? 0;
  const mimeType = mimeTypeOfText(path);
  const startLine = offset + 1;
  if (page.nextOffset === undefined && isCut) {
    const whole = pageOf(page.content, 0, Math.max(shown - 1, 1)) as Page;
    const endLine = offset + (whole.endLine ?? 0);
    const truncated = shown === 1 ? { truncated: true as const } : {};
    return { content: whole.content, mimeType, startLine, endLine, nextOffset: endLine, size, ...truncated };
  }
  const endLine = offset + shown;
  const end = page.nextOffset === undefined ? { totalLines: endLine } : { nextOffset: endLine, size };
  return { content: page.content, mimeType, startLine, endLine, ...end };
}

interface Header {
  readonly facts: readonly [size: number, modified: number, ...others: number[]];
  readonly rest: Buffer;
}

function headerOf({ bytes }: Reply): Header {
  const end = bytes.indexOf(10);
  const [size, modified, ...others] = bytes.toString("latin1", 0, end).split(" ").map(Number);
  if (end === -1 || size === undefined || modified === undefined) throw noAnswer("its answer cannot be read");
  return { facts: [size, modified, ...others], rest: bytes.subarray(end + 1) };
}

function firstHigh(bytes: Buffer): number {
  return Math.max(
    bytes.findIndex((byte) => byte >= 0x80),
    0,
  );
}

function pastEnd(offset: number, total: number): FileFailure {
  const lines = total === 1 ? "line" : "lines";
  return new FileFailure(
    "INVALID_ARGUMENT",
    `Offset ${offset} is past the end of the file, which has ${total} ${lines}`,
  );
}
