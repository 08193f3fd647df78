/** Changes of files as people read them: contents and a unified diff. */
import { fileContent, sameContent } from "./file-content.ts";
import type { StoredChange } from "./stored-files.ts";
import type { StateReader, StoredValue } from "./stored-state.ts";
import type { FileChange } from "./threads.ts";

type Content = string | Uint8Array | undefined;

/** `undefined` where only the form of the file differs. The contents must be loaded. */
export async function fileChange(
  reader: StateReader,
  change: StoredChange,
  searchUntil: number,
): Promise<FileChange | undefined> {
  const { path } = change;
  const content = (file: StoredValue | undefined): Content => file && fileContent(reader.build(file));
  return changeBetween(path, content(change.before), content(change.after), undefined, searchUntil);
}

/**
 * `undefined` where there is none. The search for what two texts have in common ends after a second, or at `searchUntil`
 * by `performance.now()`.
 */
export async function changeBetween(
  path: string,
  before: Content,
  after: Content,
  place?: string,
  searchUntil = Number.POSITIVE_INFINITY,
): Promise<FileChange | undefined> {
  if (sameContent(before, after)) return undefined;
  const kind = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
  const where = place === undefined ? { path } : { path, place };
  return { ...where, kind, before, after, patch: await patchOf(path, before, after, searchUntil) };
}

/** Two texts that have little in common are not worth a longer search for what they share. */
const SEARCH_MS = 1_000;
/** All files of a comparison together; those behind it are shown as all lines out, all lines in. */
const SEARCH_ALL_MS = 5_000;

export const searchEnd = (): number => performance.now() + SEARCH_ALL_MS;

async function patchOf(
  path: string,
  before: Content,
  after: Content,
  searchUntil: number,
): Promise<string | undefined> {
  if (before instanceof Uint8Array || after instanceof Uint8Array) return undefined;
  const until = Math.min(searchUntil, performance.now() + SEARCH_MS);
  if (!isShort(before) || !isShort(after)) {
    const { patchInThread } = await import("./patches/patch-thread.ts");
    return patchInThread({ path, before, after, until });
  }
  const { patchBetween } = await import("./patches/patch.ts");
  // There may be thousands of them.
  await new Promise<void>((go) => setImmediate(go));
  return patchBetween({ path, before, after, searchMs: Math.max(0, Math.round(until - performance.now())) });
}

const SHORT_LINES = 200;
const SHORT_CHARACTERS = 64 * 1024;

/** Compared within milliseconds, whatever is in it. */
function isShort(text: string | undefined): boolean {
  if (text === undefined) return true;
  if (text.length > SHORT_CHARACTERS) return false;
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines <= SHORT_LINES;
}
