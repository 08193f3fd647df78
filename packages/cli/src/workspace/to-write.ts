/** Which changes of a run go to the disk. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { modifiedAt } from "./changed-since.ts";
import { type Changes, type Files, textOf } from "./changes.ts";

/**
 * All but those a run made before it was broken off whose file in `directory` is newer: they were written
 * then, and somebody may have edited them since. `now` is what the run that goes on began with.
 */
export async function toWrite(
  directory: string,
  changes: Changes,
  now: Files,
  after: Files,
): Promise<Changes> {
  const isWanted = async (path: string): Promise<boolean> => {
    const [known, file] = [Object.hasOwn(now, path) ? now[path] : undefined, after[path] as Files[string]];
    if (known === undefined || textOf(known) !== textOf(file)) return true;
    const onDisk = await lstat(join(directory, path)).catch(() => undefined);
    return onDisk === undefined || onDisk.mtimeMs <= modifiedAt(file);
  };
  const wanted = async (paths: readonly string[]): Promise<string[]> => {
    const are = await Promise.all(paths.map(isWanted));
    return paths.filter((_, i) => are[i]);
  };
  return { ...changes, created: await wanted(changes.created), changed: await wanted(changes.changed) };
}
