/** Threads in and out of files, line by line. */

import { once } from "node:events";
import { type FileHandle, open, rename, stat, unlink } from "node:fs/promises";
import { CommandError, usageError } from "../command-error.ts";

const BUFFER_CHARACTERS = 65_536;
const OWNER_ONLY = 0o600;

/** Writes to a new file for its owner alone; a file that is there is replaced only by `force`, and then as a whole. */
export async function writeLines(path: string, lines: AsyncIterable<string>, force: boolean): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw usageError(`'${path}' is a directory.`, "Give the name of a file.");
  if (!force && found) throw usageError(`The file '${path}' already exists.`, "Replace it with --force.");
  const temporary = `${path}.${process.pid}.deepwright-tmp`;
  const handle = await open(temporary, "wx", OWNER_ONLY).catch((error: Error) => {
    throw new CommandError(`'${path}' cannot be written: ${error.message}.`, { cause: error });
  });
  try {
    await pour(lines, (text) => handle.writeFile(text));
    await handle.close();
    await place(temporary, path, force);
  } catch (error) {
    await closeQuietly(handle);
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

async function place(temporary: string, path: string, force: boolean): Promise<void> {
  if (!force && (await stat(path).catch(() => undefined)))
    throw usageError(`The file '${path}' exists by now.`, "Replace it with --force.");
  await rename(temporary, path);
}

async function closeQuietly(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => {});
}

/** Waits for the reader; ends early when the reader has gone. */
export async function printLines(stdout: NodeJS.WriteStream, lines: AsyncIterable<string>): Promise<void> {
  await pour(lines, async (text) => {
    if (stdout.destroyed || stdout.write(text)) return;
    // An error means that the reader has gone; the listener of stdout records it.
    await Promise.race([once(stdout, "drain"), once(stdout, "close")]).catch(() => {});
  });
}

async function pour(lines: AsyncIterable<string>, write: (text: string) => Promise<void>): Promise<void> {
  let text = "";
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length < BUFFER_CHARACTERS) continue;
    await write(text);
    text = "";
  }
  if (text !== "") await write(text);
}

/** Lines end with \n and nothing else: JSON may hold every other kind of line break. */
export async function* linesOf(pieces: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for await (const piece of pieces) {
    const text = typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    const ends = text.split("\n");
    const rest = ends.pop() as string;
    for (const end of ends) {
      yield [...parts, end].join("");
      parts = [];
    }
    if (rest !== "") parts.push(rest);
  }
  const last = [...parts, decoder.decode()].join("");
  if (last !== "") yield last;
}

/** The same lines, each reported; throws once the signal is aborted. */
export async function* watched(
  lines: AsyncIterable<string>,
  signal: AbortSignal,
  onLine: (number: number) => void,
): AsyncGenerator<string> {
  let number = 0;
  for await (const line of lines) {
    signal.throwIfAborted();
    number += 1;
    onLine(number);
    yield line;
  }
}
