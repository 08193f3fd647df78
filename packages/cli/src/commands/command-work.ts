/** Finds files that commands changed in the directory of a run, by file times. */
import type { SharedSaver } from "@deepwright/checkpoint";
import { count } from "../terminal/amounts.ts";
import type { Colours } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";

export interface CommandWork {
  /** How many ran. */
  readonly count: number;
  /**
   * Files that changed since the first of them and were not written by a tool, sorted; undefined: it was not found out.
   * What was deleted is not among them.
   */
  readonly changed: readonly string[] | undefined;
}

/** The times of files come from a clock that is late by up to a tick. */
const CLOCK_TICK_MS = 10;
/** A directory may be as large as a home. */
const LOOKING_MS = 2_000;

/** Told by the notes that commands left after number `since` in the tree `place`; undefined: none ran. */
export async function commandWork(
  saver: SharedSaver,
  threadId: string,
  since: number,
  place: string,
): Promise<CommandWork | undefined> {
  const [{ listImages }, { openUndoTree }] = await Promise.all([
    import("@deepwright/checkpoint"),
    import("deepwright/internal"),
  ]);
  const images = (await listImages(saver, threadId)).filter(({ sequence }) => sequence > since);
  const commands = images.filter((image) => image.place === place.replace("disk:", "command:"));
  const [first] = commands;
  if (first === undefined) return undefined;
  const byTools = new Set(images.filter((image) => image.place === place).map(({ path }) => path));
  const looking = openUndoTree(place)?.changedSince(first.at - CLOCK_TICK_MS);
  const found = await inTime(looking, LOOKING_MS);
  return { count: commands.length, changed: found?.filter((path) => !byTools.has(path)) };
}

async function inTime<Value>(work: Promise<Value> | undefined, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const MAX_LISTED = 30;

export function commandWorkLines({ count: ran, changed }: CommandWork, colours: Colours): readonly string[] {
  const commands = count(ran, "command");
  if (changed === undefined) return [`${commands} ran; the files that changed meanwhile are not known`];
  if (changed.length === 0)
    return [`${commands} ran; no other file changed since (deletions are not counted)`];
  const shown = changed.slice(0, MAX_LISTED).map((path) => colours.yellow(`  ~ ${safeLine(path)}`));
  const more = changed.length - shown.length;
  return [
    `${commands} ran; ${count(changed.length, "other file")} changed since (deletions are not counted):`,
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}
