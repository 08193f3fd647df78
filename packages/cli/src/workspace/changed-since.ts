/** Which files of the disk a thread that goes on should get. */
import { type Files, textOf } from "./changes.ts";
import type { FileCopy } from "./read-workspace.ts";

/**
 * Files the thread does not have, if they changed since `at` (milliseconds since 1970): older ones it had
 * or its agent deleted. Files it has with another content, if the one on the disk is the newer.
 */
export function changedSince(
  files: Files,
  at: number,
  disk: Readonly<Record<string, FileCopy>>,
): Record<string, FileCopy> {
  return Object.fromEntries(
    Object.entries(disk).filter(([path, copy]) => {
      const known = Object.hasOwn(files, path) ? files[path] : undefined;
      const since = known ? modifiedAt(known) : at;
      return Date.parse(copy.modified_at) > since && (!known || textOf(known) !== copy.content);
    }),
  );
}

/** Of a file that does not say, any copy is newer. */
export function modifiedAt(file: object): number {
  const time = Date.parse(String((file as { modified_at?: unknown }).modified_at));
  return Number.isNaN(time) ? 0 : time;
}
