/**
 * Files outside the state on the way from one state of a thread to another: what the steps between them
 * changed is put back to how the target knew it, from the images kept of it.
 */
import { changeBetween, searchEnd } from "./file-changes.ts";
import { sameContent } from "./file-content.ts";
import { COMMAND, LARGE, type StoredImage } from "./images.ts";
import type { FileChange, NotCovered, RewindConflict } from "./threads.ts";

type Content = string | Uint8Array | undefined;

/** A tree of files that can be put back. Paths begin with `/`, which is its root. */
export interface RestorableFiles {
  read(path: string): Promise<Uint8Array | undefined>;
  /** `undefined` removes the file. */
  write(path: string, content: Uint8Array | undefined): Promise<void>;
  /** Paths of files that changed at or after the moment, in milliseconds since 1970. */
  changedSince(moment: number): Promise<readonly string[]>;
}

export interface FilesReport {
  readonly restored: readonly FileChange[];
  readonly conflicts: readonly RewindConflict[];
  readonly notCovered: readonly NotCovered[];
}

export interface FilesRewind {
  /** All of the thread. */
  readonly images: readonly StoredImage[];
  /** Checkpoints whose steps are taken back, and those whose steps are done again. */
  readonly undone: ReadonlySet<string>;
  readonly redone: ReadonlySet<string>;
  /** Checkpoints whose steps led to where the thread stands now. */
  readonly done: ReadonlySet<string>;
  /** Undefined for a place the caller does not let us write to. */
  readonly open: (place: string) => RestorableFiles | undefined;
  readonly dryRun: boolean;
}

const DISK = "disk:";

/** One file with the images of its whole life in the thread, in order. */
interface FileHistory {
  readonly place: string;
  readonly path: string;
  readonly images: readonly StoredImage[];
}

export async function rewindFiles(rewind: FilesRewind): Promise<FilesReport> {
  const restored: FileChange[] = [];
  const conflicts: RewindConflict[] = [];
  const notCovered: NotCovered[] = [];
  const searchUntil = searchEnd();
  for (const history of histories(rewind.images)) {
    const wanted = await wantedContent(history, rewind);
    if (wanted === undefined) continue;
    const place = rewind.open(history.place);
    const { path } = history;
    if (!place) {
      notCovered.push({
        place: history.place,
        path,
        reason: "Its directory was not named as one to restore.",
      });
      continue;
    }
    const outcome = await restore(history, wanted.content, place, { ...rewind, searchUntil });
    if (typeof outcome === "string") conflicts.push({ path, place: history.place, reason: outcome });
    else if (outcome) restored.push(outcome);
  }
  notCovered.push(...tooLarge(rewind), ...(await afterCommands(rewind)));
  return { restored, conflicts, notCovered };
}

function histories(images: readonly StoredImage[]): FileHistory[] {
  const byFile = new Map<string, StoredImage[]>();
  for (const image of images) {
    if (image.place.startsWith(COMMAND) || image.place.startsWith(LARGE)) continue;
    const key = JSON.stringify([image.place, image.path]);
    const known = byFile.get(key);
    if (known) known.push(image);
    else byFile.set(key, [image]);
  }
  return [...byFile.keys()].sort().map((key) => {
    const file = byFile.get(key) as StoredImage[];
    const { place, path } = file[0] as StoredImage;
    return { place, path, images: file };
  });
}

/** Absent if none of the steps touched the file. */
async function wantedContent(
  { images }: FileHistory,
  { undone, redone }: FilesRewind,
): Promise<{ readonly content: Content } | undefined> {
  const last = images.findLast(({ checkpointId }) => redone.has(checkpointId));
  if (last) return { content: await last.after() };
  const first = images.find(({ checkpointId }) => undone.has(checkpointId));
  return first && { content: await first.before() };
}

/** The change, the reason why there was none, or undefined where none was needed. */
async function restore(
  history: FileHistory,
  wanted: Content,
  place: RestorableFiles,
  rewind: FilesRewind & { readonly searchUntil: number },
): Promise<FileChange | string | undefined> {
  try {
    const current = readable(await place.read(history.path));
    const change = await changeBetween(history.path, current, wanted, history.place, rewind.searchUntil);
    if (!change) return undefined;
    if ((await isByOthers(current, history, rewind)) || (await wasChangedBetween(history, rewind)))
      return "It was changed since by a person or program, not by the agent.";
    if (!rewind.dryRun) await place.write(history.path, bytesOf(wanted));
    return change;
  } catch (error) {
    return `It cannot be put back: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * A content the thread has is not: what replaces it loses nothing. A file that is gone is, unless the steps
 * leave none; the last of them may have been broken off before it wrote.
 */
async function isByOthers(current: Content, { images }: FileHistory, rewind: FilesRewind): Promise<boolean> {
  if (current !== undefined) return !(await isKnown(current, images));
  const last = images.findLast(({ checkpointId }) => rewind.done.has(checkpointId));
  if (!last) return (await images[0]?.before()) !== undefined;
  return (await last.before()) !== undefined && (await last.after()) !== undefined;
}

/** Whether a later one of the steps found what no earlier one had left; after a command that may be the command's. */
async function wasChangedBetween({ images }: FileHistory, rewind: FilesRewind): Promise<boolean> {
  const undone = images.filter(({ checkpointId }) => rewind.undone.has(checkpointId));
  for (const image of undone.slice(1)) {
    const earlier = images.slice(0, images.indexOf(image));
    const since = earlier.at(-1)?.sequence ?? 0;
    const isAfterCommand = rewind.images.some(
      ({ place, sequence }) => place.startsWith(COMMAND) && sequence > since && sequence < image.sequence,
    );
    if (!isAfterCommand && !(await isKnown(await image.before(), earlier))) return true;
  }
  return false;
}

/** The newest first: it is nearly always that one. */
async function isKnown(content: Content, images: readonly StoredImage[]): Promise<boolean> {
  for (const image of images.toReversed())
    if (sameContent(content, await image.after()) || sameContent(content, await image.before())) return true;
  return false;
}

/** Each file once. */
function tooLarge({ images, undone, redone }: FilesRewind): NotCovered[] {
  const noted = images.filter(
    ({ place, checkpointId }) =>
      place.startsWith(LARGE) && (undone.has(checkpointId) || redone.has(checkpointId)),
  );
  const byFile = new Map(noted.map(({ place, path }) => [JSON.stringify([place, path]), { place, path }]));
  return [...byFile.values()].map(({ place, path }) => ({
    place: `${DISK}${place.slice(LARGE.length)}`,
    path,
    reason: "It is too large to be kept.",
  }));
}

/** The times of files come from a clock that is late by up to a tick. */
const CLOCK_TICK_MS = 10;

/** Commands write where they like: named are the commands, and files that changed since the first of them. */
async function afterCommands({ images, undone, open }: FilesRewind): Promise<NotCovered[]> {
  const commands = images.filter(
    ({ place, checkpointId }) => place.startsWith(COMMAND) && undone.has(checkpointId),
  );
  const found: NotCovered[] = commands.map(({ place, path }) => ({
    place: diskOf(place),
    command: path,
    reason: "What a command wrote is not kept.",
  }));
  for (const disk of new Set(commands.map(({ place }) => diskOf(place)))) {
    const first = (commands.find(({ place }) => diskOf(place) === disk)?.at ?? 0) - CLOCK_TICK_MS;
    const covered = new Set(images.filter(({ place }) => place === disk).map(({ path }) => path));
    for (const path of (await open(disk)?.changedSince(first)) ?? [])
      if (!covered.has(path))
        found.push({ place: disk, path, reason: "It changed after a command was run." });
  }
  return found;
}

function diskOf(place: string): string {
  return `${DISK}${place.slice(COMMAND.length)}`;
}

/** Text where the bytes are UTF-8, as images have it. */
function readable(bytes: Uint8Array | undefined): Content {
  if (bytes === undefined || bytes.includes(0)) return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return bytes;
    throw error;
  }
}

function bytesOf(content: Content): Uint8Array | undefined {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
