/** Copies the text files of a directory into the shape of a thread's `files`. */
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, relative, sep } from "node:path";
import { usageError } from "../command-error.ts";
import { isUsableName } from "./entry-names.ts";
import type { LeftOut, LeftOutReason } from "./left-out.ts";
import type { WorkspaceLimits } from "./limits.ts";
import { type Walk, walk } from "./walk.ts";

export interface FileCopy {
  readonly content: string;
  readonly mimeType: "text/plain";
  /** ISO 8601. */
  readonly created_at: string;
  readonly modified_at: string;
}

export interface Workspace {
  /** By path as the agent sees it: `/src/x.ts`. */
  readonly files: Readonly<Record<string, FileCopy>>;
  readonly bytes: number;
  readonly leftOut: readonly LeftOut[];
  /** False when the directory was too big to look at everything. */
  readonly complete: boolean;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Where this run writes to, as a real path: what earlier runs left there is no part of the work. */
  readonly out?: string;
}

/** `path` may also be one file. Files are only read, never changed. */
export async function readWorkspace(
  path: string,
  limits: WorkspaceLimits,
  { signal, out }: ReadOptions = {},
): Promise<Workspace> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) throw usageError(`There is no directory '${path}' to work on.`, "Check --in.");
  if ((await stat(real)).isDirectory()) {
    const results = out !== undefined && (await holdsSomething(out)) ? out : undefined;
    return collect(real, await walk(real, limits.entries, { signal, out: results }), limits, signal);
  }
  const alone: Walk = { files: [real], leftOut: [], complete: true };
  if (!isUsableName(basename(real))) throw usageError("The name of the file given with --in cannot be used.");
  return collect(dirname(real), alone, limits, signal);
}

/** A directory that was only just made is not worth a word. */
async function holdsSomething(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch(() => []);
  return names.length > 0;
}

/** Files read at once. */
const BATCH = 32;

async function collect(
  root: string,
  { files: paths, leftOut: skipped, complete }: Walk,
  limits: WorkspaceLimits,
  signal: AbortSignal | undefined,
): Promise<Workspace> {
  const files: Record<string, FileCopy> = {};
  const leftOut = [...skipped];
  let [amount, bytes] = [0, 0];
  for (let start = 0; start < paths.length; start += BATCH) {
    signal?.throwIfAborted();
    const room = amount >= limits.files ? 0 : limits.totalBytes - bytes;
    const batch = paths.slice(start, start + BATCH);
    const copies = await Promise.all(batch.map((path) => copyOf(path, limits.fileBytes, room)));
    for (const [i, copy] of copies.entries()) {
      const name = relative(root, batch[i] as string);
      const key = `/${name.split(sep).join("/")}`.normalize("NFC");
      const reason = whyNot(copy, Object.hasOwn(files, key), amount, bytes, limits);
      if (reason !== undefined) leftOut.push({ reason, path: name });
      else {
        files[key] = (copy as Copy).data;
        bytes += (copy as Copy).bytes;
        amount += 1;
      }
    }
  }
  return { files, bytes, leftOut, complete };
}

const HEAD_BYTES = 4_096;

async function readAll(handle: FileHandle, size: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, 0);
  return buffer.subarray(0, bytesRead);
}

interface Copy {
  readonly data: FileCopy;
  readonly bytes: number;
}

const OVER: LeftOutReason = "over-limit";

function whyNot(
  copy: Copy | LeftOutReason,
  taken: boolean,
  amount: number,
  bytes: number,
  limits: WorkspaceLimits,
): LeftOutReason | undefined {
  if (typeof copy === "string") return copy;
  if (amount >= limits.files || bytes + copy.bytes > limits.totalBytes) return OVER;
  return taken ? "name" : undefined;
}

/** Reads no more than it must: not what is too large, not what there is no room for, not all of a binary. */
async function copyOf(path: string, maxBytes: number, room: number): Promise<Copy | LeftOutReason> {
  if (room <= 0) return OVER;
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return "unreadable";
  try {
    const { size, mtime, birthtime } = await handle.stat();
    if (size > maxBytes) return "too-large";
    if (size > room) return OVER;
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (buffer.subarray(0, bytesRead).includes(0)) return "not-text";
    const content = decodeText(
      bytesRead < size ? await readAll(handle, size) : buffer.subarray(0, bytesRead),
    );
    if (content === undefined) return "not-text";
    const times = { created_at: birthtime.toISOString(), modified_at: mtime.toISOString() };
    return { data: { content, mimeType: "text/plain", ...times }, bytes: size };
  } catch {
    return "unreadable";
  } finally {
    await handle.close();
  }
}

/** UTF-8 without NUL is text, whatever the file is called; a byte order mark is kept. */
export function decodeText(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}
