/** Finds what commands changed in the directory of a run: from snapshots, or by file times where there are none. */
import type { SharedSaver, StoredImage } from "@deepwright/checkpoint";
import type { EntrySet } from "deepwright/internal";
import { type Changes, changesOf } from "../run/changes.ts";

export interface CommandWork {
  /** How many ran. */
  readonly count: number;
  /**
   * Sorted. Without snapshots these are files that changed since the first command and were not written by a tool;
   * undefined: it was not found out.
   */
  readonly changed: readonly string[] | undefined;
  /** Absent without snapshots. Directories end with `/`. */
  readonly created?: readonly string[];
  readonly deleted?: readonly string[];
  /** Entries that are not listed. */
  readonly more?: number;
}

/** The times of files come from a clock that is late by up to a tick. */
const CLOCK_TICK_MS = 10;
/** A directory may be as large as a home. */
const LOOKING_MS = 2_000;

/** From the notes that commands left after number `since` in the tree `place`. Undefined: no command ran. */
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
  const recorded = images.filter(({ place: where }) => where === place.replace("disk:", "walked:"));
  if (recorded.length === commands.length)
    return { count: commands.length, ...(await recordedChanges(images, place.replace("disk:", "tree:"))) };
  const byTools = new Set(images.filter((image) => image.place === place).map(({ path }) => path));
  const looking = openUndoTree(place)?.changedSince(first.at - CLOCK_TICK_MS);
  const found = await inTime(looking, LOOKING_MS);
  return { count: commands.length, changed: found?.filter((path) => !byTools.has(path)) };
}

/** Entries whose contents are compared. */
const MOST_ENTRIES = 500;

/** From the rows of snapshots; what others changed between commands is left out. */
async function recordedChanges(
  images: readonly StoredImage[],
  place: string,
): Promise<Changes & { readonly more?: number }> {
  const { pathsOfSet, sameEntry } = await import("deepwright/internal");
  const rows = new Map<string, { readonly first: StoredImage; readonly last: StoredImage }>();
  for (const image of images) {
    if (image.place !== place || image.by?.kind !== undefined) continue;
    for (const path of pathsOfSet(image.path))
      rows.set(path, { first: rows.get(path)?.first ?? image, last: image });
  }
  const sides = new Map<string, Promise<EntrySet["entries"]>>();
  const entry = async (image: StoredImage, side: "before" | "after", path: string) => {
    const key = `${image.sequence} ${side}`;
    const known = sides.get(key) ?? image[side]().then((set) => (set as unknown as EntrySet).entries);
    sides.set(key, known);
    return (await known)[path];
  };
  const all = [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
  const changes = [];
  for (const [path, { first, last }] of all.slice(0, MOST_ENTRIES)) {
    const [before, after] = [await entry(first, "before", path), await entry(last, "after", path)];
    if (sameEntry(before, after)) continue;
    const kind = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
    changes.push({ path: (after ?? before)?.type === "directory" ? `${path}/` : path, kind } as const);
  }
  const more = all.length - MOST_ENTRIES;
  return { ...changesOf(changes), ...(more > 0 && { more }) };
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
