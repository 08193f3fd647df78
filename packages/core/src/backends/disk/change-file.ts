/** Writes, appends to and edits a file on disk. Other readers see each change as one step. */
import { isAscii } from "node:buffer";
import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import { showPath } from "../../paths.ts";
import type { EditResult, FileError, WriteResult } from "../backend.ts";
import { appendToFile, createFile, type ReadOptions, readAll, replaceFile } from "./atomic-write.ts";
import { HEAD_BYTES } from "./encoding/detect-encoding.ts";
import { editBytes } from "./encoding/edit-bytes.ts";
import { type EncodedText, encodeText, formatOf } from "./encoding/text-codec.ts";
import { alreadyExists, notFound, systemCode, whyNotPlain } from "./file-errors.ts";
import { AGAIN, type ChangeRequest, changeLocked, type LockedEntry } from "./locked-change.ts";
import { withSpareBuffer } from "./spare-buffer.ts";

/** A larger file, before or after, leaves no image: it cannot be put back, only named. */
export const MAX_IMAGE_BYTES = 50 * 1024 * 1024;

/** From here on a text is encoded while it is written: it is not held twice, and memory used again is cheaper. */
const LARGE_TEXT = 512 * 1024;
/** Characters encoded at once. */
const PIECE_CHARACTERS = 256 * 1024;
/** Bytes of one UTF-16 code unit in UTF-8, at most. */
const BYTES_PER_CHARACTER = 3;

/** An append looks at this much of a file to learn its encoding. */
const MAX_SAMPLE_BYTES = 1024 * 1024;

/** Bytes from which reading costs less than fresh memory. */
const WORTH_SPARING = 1024 * 1024;

/** Parents are made. Without `overwrite` a file that exists is left alone. */
export function writeBytes(
  request: ChangeRequest,
  bytes: Uint8Array,
  overwrite = false,
): Promise<WriteResult> {
  const { path } = request;
  return changeLocked(request, { create: true }, async (entry): Promise<WriteResult | typeof AGAIN> => {
    if (entry.stats === undefined) return create(request, entry, bytes, overwrite);
    const unusable = whyNotWritten(entry.stats, path);
    if (unusable !== undefined) return unusable;
    if (!overwrite) return alreadyExists(path);
    return replace(request, entry, [bytes], undefined);
  });
}

/** As `writeBytes`, in UTF-8. */
export function writeText(request: ChangeRequest, text: string, overwrite = false): Promise<WriteResult> {
  const isSmall = text.length <= (request.record === undefined ? LARGE_TEXT : MAX_IMAGE_BYTES);
  if (isSmall || overwrite) return writeBytes(request, Buffer.from(text), overwrite);
  const { path } = request;
  return changeLocked(request, { create: true }, async (entry): Promise<WriteResult | typeof AGAIN> => {
    if (entry.stats !== undefined) return whyNotWritten(entry.stats, path) ?? alreadyExists(path);
    const tooLarge = request.maxBytes && whyTooLarge(request, Buffer.byteLength(text));
    if (tooLarge) return tooLarge;
    await noteLarge(request, entry);
    return createNew(request, entry, { [Symbol.iterator]: () => utf8Pieces(text) }, false);
  });
}

/** A piece is good until the next one is asked for. */
function* utf8Pieces(text: string): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(PIECE_CHARACTERS * BYTES_PER_CHARACTER);
  for (let from = 0; from < text.length; ) {
    const to = Math.min(from + PIECE_CHARACTERS, text.length);
    const code = text.charCodeAt(to - 1);
    const end = to < text.length && code >= 0xd800 && code <= 0xdbff ? to - 1 : to;
    yield buffer.subarray(0, buffer.write(text.slice(from, end)));
    from = end;
  }
}

/** Creates the file where there is none. `text` gets the encoding of the file. */
export function appendText(request: ChangeRequest, text: string): Promise<WriteResult> {
  const { path } = request;
  return changeLocked(request, { create: true }, async (entry): Promise<WriteResult | typeof AGAIN> => {
    const { directory, name, stats } = entry;
    if (stats === undefined) return create(request, entry, Buffer.from(text), true);
    const unusable = whyNotWritten(stats, path);
    if (unusable !== undefined) return unusable;
    const needsWhole = stats.nlink > 1n || isRecorded(request, Number(stats.size) + text.length);
    const known = await (needsWhole ? readEntry(entry) : readSample(entry, text));
    const addition = encodeLike(known.bytes, text, path);
    if (addition.error !== undefined) return addition;
    const tooLarge = whyTooLarge(request, Number(known.stats.size) + addition.bytes.length);
    if (tooLarge !== undefined) return tooLarge;
    const fresh = { ...entry, stats: known.stats };
    if (needsWhole) {
      const whole = Buffer.concat([known.bytes, addition.bytes]);
      if (stats.nlink > 1n) return replace(request, fresh, [whole], known.bytes);
      await record(request, entry, known.bytes, whole);
    } else await noteLarge(request, entry);
    return (await appendToFile(directory, name, addition.bytes, known.stats)) ? { path } : AGAIN;
  });
}

export interface TextEdit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
  /** Bytes; a larger file is refused. */
  readonly maxSize: number;
}

export function editText(request: ChangeRequest, edit: TextEdit): Promise<EditResult> {
  const { path } = request;
  return changeLocked(request, {}, async (entry): Promise<EditResult | typeof AGAIN> => {
    if (entry.stats === undefined) return notFound(path);
    const unusable = whyNotPlain(entry.stats, path);
    if (unusable !== undefined) return unusable;
    if (entry.stats.size > edit.maxSize)
      return {
        error: `'${showPath(path)}' is larger than the ${Math.floor(edit.maxSize / 1024 / 1024)} MB that can be edited`,
        code: "TOO_LARGE",
      };
    if (request.record !== undefined || entry.stats.size < WORTH_SPARING)
      return editEntry(request, entry, edit, undefined);
    return withSpareBuffer(Number(entry.stats.size) + 1, (into) => editEntry(request, entry, edit, into));
  });
}

/** Reads into `into`, where that is large enough, and keeps nothing of it. */
async function editEntry(
  request: ChangeRequest,
  entry: LockedEntry,
  edit: TextEdit,
  into: Buffer | undefined,
): Promise<EditResult | typeof AGAIN> {
  const { path, signal } = request;
  const { bytes, stats } = await readEntry(entry, { signal, into });
  const edited = editBytes(bytes, edit.oldString, edit.newString, edit.replaceAll, path);
  if (edited.error !== undefined) return edited;
  const result = await replace(request, { ...entry, stats }, edited.pieces ?? [edited.bytes], bytes);
  if (result === AGAIN || result.error !== undefined) return result;
  return { path, occurrences: edited.occurrences };
}

function whyTooLarge({ path, maxBytes }: ChangeRequest, bytes: number): FileError | undefined {
  if (maxBytes === undefined || bytes <= maxBytes) return undefined;
  const limit = Math.floor((maxBytes / 1024 / 1024) * 100) / 100;
  return {
    error: `'${showPath(path)}' would be larger than the ${limit} MB a file may have`,
    code: "TOO_LARGE",
  };
}

function whyNotWritten(stats: BigIntStats, path: string): FileError | undefined {
  if (!stats.isDirectory()) return whyNotPlain(stats, path);
  return { error: `Cannot write to ${showPath(path)} because it is a directory`, code: "IS_DIRECTORY" };
}

async function create(
  request: ChangeRequest,
  entry: LockedEntry,
  bytes: Uint8Array,
  lookAgain: boolean,
): Promise<WriteResult | typeof AGAIN> {
  const tooLarge = whyTooLarge(request, bytes.length);
  if (tooLarge !== undefined) return tooLarge;
  await record(request, entry, undefined, bytes);
  return createNew(request, entry, [bytes], lookAgain);
}

async function createNew(
  { path }: ChangeRequest,
  entry: LockedEntry,
  pieces: Iterable<Uint8Array>,
  lookAgain: boolean,
): Promise<WriteResult | typeof AGAIN> {
  try {
    await createFile(entry.directory, entry.name, pieces);
    return { path };
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    return lookAgain ? AGAIN : alreadyExists(path);
  }
}

/** `before` is the content that `place.stats` describes, where it is known already. */
async function replace(
  request: ChangeRequest,
  entry: LockedEntry,
  pieces: readonly Uint8Array[],
  before: Uint8Array | undefined,
): Promise<WriteResult | typeof AGAIN> {
  const { directory, name, stats } = entry;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const tooLarge = whyTooLarge(request, length);
  if (tooLarge !== undefined) return tooLarge;
  directory.checkWritable(name);
  let like = stats;
  if (isRecorded(request, Math.max(Number(stats?.size ?? 0), length))) {
    const known = before === undefined ? await readEntry(entry) : undefined;
    like = known?.stats ?? stats;
    await record(request, entry, before ?? known?.bytes, Buffer.concat(pieces));
  } else await noteLarge(request, entry);
  request.signal?.throwIfAborted();
  return (await replaceFile(directory, name, pieces, like)) ? { path: request.path } : AGAIN;
}

function isRecorded(request: ChangeRequest, size: number): boolean {
  return request.record !== undefined && size <= MAX_IMAGE_BYTES;
}

async function record(
  request: ChangeRequest,
  { path }: LockedEntry,
  before: Uint8Array | undefined,
  after: Uint8Array,
): Promise<void> {
  if (isRecorded(request, Math.max(before?.length ?? 0, after.length)))
    await request.record?.({ path, before, after });
  else await noteLarge(request, { path });
}

/** Names a file that is too large to be put back. */
export async function noteLarge(request: ChangeRequest, { path }: Pick<LockedEntry, "path">): Promise<void> {
  await request.record?.({ path, before: undefined, after: undefined, isTooLarge: true });
}

/** The content, with the file's facts at the time of reading. */
function readEntry(entry: LockedEntry, options?: ReadOptions) {
  return withEntry(entry, (descriptor, size) => readAll(descriptor, size, options));
}

/** The bytes that decide how `text` is written: the head and, if it is ASCII, the first part that is not. */
function readSample(entry: LockedEntry, text: string) {
  return withEntry(entry, async (descriptor, size) => {
    const limit = MAX_SAMPLE_BYTES;
    const head = await readAll(descriptor, size, { limit });
    if (isAscii(Buffer.from(text))) return head;
    let part = head;
    for (let from = head.length; isAscii(part) && from < size; from += part.length) {
      part = await readAll(descriptor, limit + 1, { from, limit });
      if (part.length === 0) return head;
    }
    return isAscii(head) && part !== head ? Buffer.concat([head.subarray(0, HEAD_BYTES), part]) : head;
  });
}

async function withEntry(
  { directory, name }: LockedEntry,
  read: (descriptor: number, size: number) => Promise<Buffer>,
) {
  const descriptor = directory.openFile(name);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    return { stats, bytes: await read(descriptor, Number(stats.size)) };
  } finally {
    closeSync(descriptor);
  }
}

/** `known` is the file or part of it, which is then judged by its whole lines. */
function encodeLike(known: Buffer, text: string, path: string): EncodedText {
  const cut = known.length >= MAX_SAMPLE_BYTES ? known.lastIndexOf(10) + 1 : 0;
  const format = formatOf(cut > 0 ? known.subarray(0, cut) : known);
  if (format === undefined) return { error: `'${showPath(path)}' is not a text file`, code: "NOT_TEXT" };
  return encodeText(text, format.encoding, false);
}
