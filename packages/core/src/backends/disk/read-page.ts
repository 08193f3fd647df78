/**
 * Reads a page of a file on disk, at the cost of the shown and skipped parts.
 *
 * The part before the page is scanned for line ends, in chunks and without decoding. The part behind it is read only to
 * count the lines of a small file. Memory is bounded by one page.
 */
import { isAscii } from "node:buffer";
import { read as readWithCallback, type Stats } from "node:fs";
import { setImmediate as otherTurns } from "node:timers/promises";
import { promisify } from "node:util";
import { mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
import { normalizeReadPagination } from "../../text/page.ts";
import type { FileError, ReadResult } from "../backend.ts";
import {
  byteOrderMark,
  type Encoding,
  firstNonAscii,
  HEAD_BYTES,
  isBinaryHead,
  SAMPLE_BYTES,
} from "./encoding/detect-encoding.ts";
import { PageScan, type UnitKind } from "./encoding/page-scan.ts";
import { characterBorder, decodePart, encodingOf, wholeCharacters } from "./encoding/text-codec.ts";

/**
 * Bytes of one page. A page ends before the line that would exceed them; of a line that is longer than
 * that alone only the beginning is returned, marked `truncated`.
 */
export const MAX_PAGE_BYTES = 10 * 1024 * 1024;
/** How far the end of a line is looked for that is too long for a page: only then is the next line known. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Bytes of a file that is not text: it comes whole or not at all. */
export const MAX_BINARY_BYTES = 20 * 1024 * 1024;
/** Up to this many bytes the lines of a file are counted even when the page stops before its end. */
const COUNTED_BYTES = 1_000_000;
const FIRST_CHUNK = 64 * 1024;
const CHUNK = 1024 * 1024;
/** Characters decoded before other work gets its turn. */
const DECODED_AT_ONCE = 512 * 1024;

/** `path` is the virtual one. The caller has opened `fd` and closes it. */
export async function readPage(
  fd: number,
  stats: Stats,
  path: string,
  offset?: number,
  limit?: number,
  signal?: AbortSignal,
): Promise<ReadResult> {
  signal?.throwIfAborted();
  const head = await readAt(fd, 0, Buffer.allocUnsafe(FIRST_CHUNK));
  const mark = byteOrderMark(head);
  if (head.length === (mark?.length ?? 0))
    return { content: "", mimeType: mimeTypeOfText(path), totalLines: 0 };
  if (isBinaryHead(head.subarray(0, HEAD_BYTES))) return readBinary(fd, stats, path, head);
  const window = {
    ...normalizeReadPagination(offset, limit),
    start: mark?.length ?? 0,
    maxBytes: MAX_PAGE_BYTES,
    maxLineBytes: MAX_LINE_BYTES,
  };
  const unit: UnitKind = mark === undefined || mark.encoding === "utf-8" ? "byte" : mark.encoding;
  const page = new PageScan(window, unit);
  const scanned = await scan(fd, head, page, stats.size <= COUNTED_BYTES, signal);
  if (page.shown === 0) return pastEnd(window.offset, page.lines);
  const bytes = await pageBytes(fd, scanned);
  const encoding = mark?.encoding ?? (isAscii(bytes) ? "utf-8" : await sampledEncoding(fd, scanned));
  const text = await decodeInTurns(page.isCut ? wholeCharacters(bytes, encoding) : bytes, encoding);
  const lines = { startLine: window.offset + 1, endLine: window.offset + page.shown };
  return {
    content: text,
    mimeType: mimeTypeOfText(path),
    ...lines,
    ...(scanned.hasMore ? { nextOffset: lines.endLine } : {}),
    ...(scanned.totalLines === undefined ? { size: stats.size } : { totalLines: scanned.totalLines }),
    ...(page.isCut ? { truncated: true } : {}),
  };
}

interface Scanned {
  readonly page: PageScan;
  /** The last chunk read, and where it stands. */
  readonly chunk: Buffer;
  readonly base: number;
  /** Whether there are lines behind the page. */
  readonly hasMore: boolean;
  readonly totalLines: number | undefined;
  /** The first byte outside ASCII, as far as was read; -1 when there is none. */
  readonly firstHigh: number;
}

async function scan(
  fd: number,
  head: Buffer,
  page: PageScan,
  counts: boolean,
  signal: AbortSignal | undefined,
): Promise<Scanned> {
  let chunk = head;
  let base = 0;
  let firstHigh = -1;
  let isLast = head.length < FIRST_CHUNK;
  let buffer: Buffer | undefined;
  for (;;) {
    const high = firstHigh === -1 ? firstNonAscii(chunk) : -1;
    if (high !== -1) firstHigh = base + high;
    page.feed(chunk, base, !counts);
    if (page.isFull && !counts && page.hasMoreBefore(base + chunk.length))
      return { page, chunk, base, firstHigh, hasMore: true, totalLines: undefined };
    signal?.throwIfAborted();
    // With nothing to read, the buffer is not written to, and the chunk stays.
    buffer ??= isLast ? head : Buffer.allocUnsafe(CHUNK);
    const next = isLast ? EMPTY : await readAt(fd, base + chunk.length, buffer);
    if (next.length === 0) break;
    base += chunk.length;
    chunk = next;
    isLast = next.length < CHUNK;
  }
  page.finish(base + chunk.length);
  const { hasMoreLines: hasMore } = page;
  return { page, chunk, base, firstHigh, hasMore, totalLines: hasMore && !counts ? undefined : page.lines };
}

const EMPTY = Buffer.alloc(0);

/** The last page of a file ends with the line end the file has. */
async function pageBytes(fd: number, { page, chunk, base, hasMore }: Scanned): Promise<Buffer> {
  const end = hasMore || page.isCut ? page.pageEnd : base + chunk.length;
  return bytesAt(fd, chunk, base, page.pageStart, end);
}

async function sampledEncoding(fd: number, { chunk, base, firstHigh }: Scanned): Promise<Encoding> {
  return encodingOf(await bytesAt(fd, chunk, base, firstHigh, firstHigh + SAMPLE_BYTES));
}

/** From the chunk at hand where it has them all. */
async function bytesAt(fd: number, chunk: Buffer, base: number, start: number, end: number): Promise<Buffer> {
  if (start >= base && end <= base + chunk.length) return chunk.subarray(start - base, end - base);
  return readAt(fd, start, Buffer.allocUnsafe(end - start));
}

const readSome = promisify(readWithCallback);

/** As many bytes as fit or are there. */
async function readAt(fd: number, position: number, buffer: Buffer): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await readSome(fd, buffer, length, buffer.length - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** Decodes large pages piece by piece, so that other work gets its turn. */
async function decodeInTurns(bytes: Buffer, encoding: Encoding): Promise<string> {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = characterBorder(bytes, start + DECODED_AT_ONCE, encoding);
    if (start > 0) await otherTurns();
    parts.push(decodePart(bytes.subarray(start, end), encoding));
    start = end;
  }
  return parts.join("");
}

async function readBinary(fd: number, stats: Stats, path: string, head: Buffer): Promise<ReadResult> {
  const mimeType = mimeTypeOfBytes(path, head, false);
  if (stats.size > MAX_BINARY_BYTES)
    return {
      error: `'${path}' is not text (${mimeType}) and too large to read: ${stats.size} bytes, at most ${MAX_BINARY_BYTES}`,
      code: "TOO_LARGE",
    };
  const bytes = head.length < FIRST_CHUNK ? head : await readAt(fd, 0, Buffer.allocUnsafe(stats.size));
  return { content: new Uint8Array(bytes), mimeType };
}

function pastEnd(offset: number, total: number): FileError {
  return {
    error: `Offset ${offset} is past the end of the file, which has ${total} ${total === 1 ? "line" : "lines"}`,
    code: "INVALID_ARGUMENT",
  };
}
