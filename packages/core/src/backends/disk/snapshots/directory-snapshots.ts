/** Snapshots of one directory around the commands of one thread. */
import type { ImageAuthor } from "../../undo-log.ts";
import { breathe } from "../time-slices.ts";
import { type Base, entryFor, factsOfBase, findBase, takeBase } from "./base-snapshot.ts";
import {
  type EntrySet,
  type KeptImage,
  Parts,
  PLACES,
  pathsOfSet,
  type SnapshotLog,
} from "./snapshot-log.ts";
import { SNAPSHOT_LIMITS, type SnapshotLimits } from "./snapshot-policy.ts";
import { sameEntry, type TreeEntry } from "./tree-entry.ts";
import { type EntryFacts, sameFacts, type TreeWalk, walkTree } from "./walk-tree.ts";
import { WorkTree } from "./work-tree.ts";

/** A change within this time of the walk may be followed by another one that leaves the same times. */
const CLOCK_TICK_MS = 20;

/**
 * A command whose end nobody saw gets what changed within this time of its start, the default limit of commands.
 * Later changes may be a person's.
 */
const UNFINISHED_MS = 120_000;

const OUTSIDE: ImageAuthor = { kind: "outside" };

export interface CommandNote {
  readonly command: string;
  readonly by: ImageAuthor;
  readonly checkpointId: string;
}

interface Change {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** A command that was begun and never recorded to its end. */
interface BrokenCommand extends CommandNote {
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
}

/** The command to which the changes of one look belong. */
interface Charge {
  readonly note: CommandNote | undefined;
  /** Changes after this moment belong to another author. Milliseconds since 1970. */
  readonly until: number;
}

export class DirectorySnapshots {
  readonly #tree: WorkTree;
  /** Facts of the entries that the store has; undefined before the first look. */
  #known: Map<string, EntryFacts> | undefined;
  #base: Base | undefined;
  /** Names that are not UTF-8, at the last look. */
  #unnamed: readonly string[] = [];
  readonly #running: CommandNote[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** `root` is a real path. */
  constructor(
    private readonly root: string,
    private readonly limits: SnapshotLimits = SNAPSHOT_LIMITS,
  ) {
    this.#tree = new WorkTree(root, limits.fileBytes);
  }

  /** Records what changed until now as somebody else's, and that the command is about to run. */
  before(log: SnapshotLog, note: CommandNote): Promise<void> {
    return this.#alone(async () => {
      await this.#look(log);
      const { command: path, by, checkpointId } = note;
      await log.record({
        place: PLACES.command + this.root,
        path,
        before: undefined,
        after: undefined,
        by,
        checkpointId,
      });
      this.#running.push(note);
    });
  }

  /** Records what changed since as the command's. */
  after(log: SnapshotLog, note: CommandNote): Promise<void> {
    return this.#alone(async () => {
      this.#running.splice(this.#running.indexOf(note), 1);
      try {
        const notes = await this.#record(log, { note, until: Number.POSITIVE_INFINITY });
        const { command: path, by, checkpointId } = note;
        const place = PLACES.walked + this.root;
        await log.record({ place, path, before: undefined, after: { notes }, by, checkpointId });
      } catch (error) {
        this.#known = undefined;
        throw error;
      }
    });
  }

  /** Records what a command that never came to its end has changed. */
  settle(log: SnapshotLog): Promise<void> {
    return this.#alone(async () => {
      if (this.#running.length > 0) return;
      const images = await log.images();
      const note = unfinished(images, this.root);
      if (note === undefined || findBase(images, this.root) === undefined) return;
      await this.#look(log);
    });
  }

  /** One look at a time, so that each change is recorded once. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #look(log: SnapshotLog): Promise<void> {
    const images = await log.images();
    const base = findBase(images, this.root);
    if (base === undefined || base.sequence !== this.#base?.sequence) this.#known = undefined;
    this.#base = base;
    if (base === undefined) return this.#first(log);
    const broken = this.#running.length === 0 ? unfinished(images, this.root) : undefined;
    const until = broken ? broken.at + UNFINISHED_MS : Number.POSITIVE_INFINITY;
    const notes = await this.#record(log, { note: this.#running[0] ?? broken, until }, images);
    if (broken === undefined) return;
    const { command: path, by, checkpointId } = broken;
    await log.record({
      place: PLACES.walked + this.root,
      path,
      before: undefined,
      after: { notes },
      by,
      checkpointId,
    });
  }

  async #first(log: SnapshotLog): Promise<void> {
    const start = Date.now();
    const walk = await this.#walk();
    this.#unnamed = walk.unnamed;
    await takeBase({ tree: this.#tree, log, limits: this.limits, root: this.root, walk });
    this.#base = findBase(await log.images(), this.root);
    this.#known = new Map();
    for (const [path, facts] of walk.entries) this.#remember(path, facts, start);
  }

  async #walk(known?: ReadonlyMap<string, EntryFacts>): Promise<TreeWalk> {
    const root = this.#tree.open();
    try {
      return await walkTree(root, this.limits.entries, known);
    } finally {
      root.close();
    }
  }

  /** Records changes since the last look. Returns what could not be kept. */
  async #record(log: SnapshotLog, { note, until }: Charge, given?: readonly KeptImage[]): Promise<string[]> {
    const start = Date.now();
    const known = await this.#facts(given ?? (await log.images()));
    const walk = await this.#walk(known);
    const gone = this.#unnamed.filter((name) => !walk.unnamed.includes(name));
    this.#unnamed = walk.unnamed;
    const paths = changedPaths(known, walk);
    // What is gone has no time. To bring it back loses nothing, so it is the command's.
    const isLate = (path: string): boolean => (walk.entries.get(path)?.ctimeMs ?? 0) > until;
    let late: readonly string[] = [];
    if (paths.length > 0) {
      const store = new StoredEntries(given ?? (await log.images()), this.root, this.#base);
      const inTime = paths.filter((path) => !isLate(path));
      await this.#store(log, note, inTime, walk, store);
      late = await this.#store(log, undefined, paths.filter(isLate), walk, store);
      for (const path of paths) {
        const facts = walk.entries.get(path);
        if (facts === undefined) known.delete(path);
        else this.#remember(path, facts, start);
      }
    }
    return [...notesOf(walk, this.limits, gone), ...notesOfLate(late)];
  }

  async #facts(images: readonly KeptImage[]): Promise<Map<string, EntryFacts>> {
    if (this.#known !== undefined) return this.#known;
    const base = this.#base ?? findBase(images, this.root);
    if (base === undefined) throw new Error("There is no first snapshot of the directory.");
    this.#base = base;
    const known = await factsOfBase(base);
    this.#known = known;
    for (const { place, path, sequence } of images) {
      if (sequence < base.sequence) continue;
      if (place === PLACES.disk + this.root) known.set(path, NEVER);
      if (place === PLACES.tree + this.root) for (const one of pathsOfSet(path)) known.set(one, NEVER);
    }
    return known;
  }

  #remember(path: string, facts: EntryFacts, start: number): void {
    const isFresh = facts.kind === "file" && Math.max(facts.ctimeMs, facts.mtimeMs) >= start - CLOCK_TICK_MS;
    this.#known?.set(path, isFresh ? { ...facts, ctimeMs: Number.NaN } : facts);
  }

  /** Returns those of `paths` that are not as they were. */
  async #store(
    log: SnapshotLog,
    note: CommandNote | undefined,
    paths: readonly string[],
    walk: TreeWalk,
    store: StoredEntries,
  ): Promise<readonly string[]> {
    const changed: string[] = [];
    const parts = new Parts();
    let changes: Change[] = [];
    const flush = async (): Promise<void> => {
      if (changes.length > 0) await log.record(changeSet(this.root, changes, note));
      changes = [];
      parts.clear();
    };
    for (const path of paths) {
      await breathe();
      const facts = walk.entries.get(path);
      const after = facts && (await entryFor(this.#tree, path, facts, this.limits.totalBytes));
      const before = withMode(await store.entry(path), this.#known?.get(path)?.mode);
      if (sameEntry(before, after)) continue;
      changes.push({ path, before, after });
      changed.push(path);
      if (parts.add(before, after)) await flush();
    }
    await flush();
    return changed;
  }
}

/** A tool does not say which mode its file got; the look after it does. */
function withMode(entry: TreeEntry | undefined, mode: number | undefined): TreeEntry | undefined {
  const isUnknown = entry?.type === "file" && entry.mode === undefined;
  return isUnknown && mode !== undefined && mode >= 0 ? { ...entry, mode } : entry;
}

/** Differs from everything. */
const NEVER: EntryFacts = {
  kind: "special",
  mode: -1,
  size: -1,
  ino: -1,
  mtimeMs: Number.NaN,
  ctimeMs: Number.NaN,
};

function changedPaths(
  known: ReadonlyMap<string, EntryFacts>,
  { entries, isCut, closed }: TreeWalk,
): string[] {
  const paths: string[] = [];
  for (const [path, facts] of entries) {
    const before = known.get(path);
    if (before === undefined || !sameFacts(before, facts)) paths.push(path);
  }
  // A walk that was cut says nothing about what it did not reach.
  const isUnseen = (path: string): boolean =>
    isCut || closed.some((directory) => path.startsWith(`${directory}/`));
  for (const path of known.keys()) if (!entries.has(path) && !isUnseen(path)) paths.push(path);
  return paths;
}

export function changeSet(
  root: string,
  changes: readonly Change[],
  note: Omit<CommandNote, "command"> | undefined,
) {
  const side = (of: "before" | "after"): EntrySet => ({
    entries: Object.fromEntries(changes.flatMap((change) => (change[of] ? [[change.path, change[of]]] : []))),
  });
  return {
    place: PLACES.tree + root,
    path: JSON.stringify(changes.map(({ path }) => path)),
    before: side("before"),
    after: side("after"),
    by: note?.by ?? OUTSIDE,
    ...(note && { checkpointId: note.checkpointId }),
  };
}

function notesOf(
  { isCut, unnamed, closed }: TreeWalk,
  { entries }: SnapshotLimits,
  gone: readonly string[],
): string[] {
  const notes = [
    ...unnamed.map((path) => `The name of '${path}' is not UTF-8, so it is not kept.`),
    ...gone.map((path) => `'${path}' is gone. Its name is not UTF-8, so it was not kept.`),
    ...closed.map((path) => `'${path || "/"}' cannot be listed, so changes in it are not kept.`),
  ];
  if (isCut) notes.push(`The directory has more than ${entries} entries. The others are not kept.`);
  return notes;
}

/** Files that are named one by one. */
const MOST_LATE = 100;

function notesOfLate(paths: readonly string[]): string[] {
  const when = `changed more than ${UNFINISHED_MS / 1000} s after the command began`;
  const notes = paths
    .slice(0, MOST_LATE)
    .map((path) => `'${path}' ${when}, so the change counts as somebody else's.`);
  const more = paths.length - notes.length;
  return more > 0 ? [...notes, `${more} more entries ${when}.`] : notes;
}

/** The newest command that was begun and never recorded to its end. */
function unfinished(images: readonly KeptImage[], root: string): BrokenCommand | undefined {
  const begun = images.findLast(({ place }) => place === PLACES.command + root);
  if (begun?.by === undefined) return undefined;
  const isDone = images.some(
    ({ place, path, sequence, checkpointId }) =>
      place === PLACES.walked + root &&
      sequence > begun.sequence &&
      path === begun.path &&
      checkpointId === begun.checkpointId,
  );
  const { path: command, by, checkpointId, at } = begun;
  return isDone ? undefined : { command, by, checkpointId, at };
}

/** Entries as the store has them now. */
class StoredEntries {
  readonly #images: readonly KeptImage[];
  #newest: Map<string, KeptImage> | undefined;
  #inBase: Map<string, KeptImage> | undefined;
  /** The last set that was read: paths are asked for in their order. */
  #read: { readonly image: KeptImage; readonly set: EntrySet } | undefined;

  constructor(
    images: readonly KeptImage[],
    private readonly root: string,
    private readonly base: Base | undefined,
  ) {
    this.#images = images.filter(({ sequence }) => sequence > (base?.sequence ?? 0));
  }

  async entry(path: string): Promise<TreeEntry | undefined> {
    this.#newest ??= this.#index();
    const image = this.#newest.get(path);
    if (image === undefined) return this.#entryOfBase(path);
    if (image.place.startsWith(PLACES.tree)) return this.#of(image, path);
    const content = (await image.after()) as string | Uint8Array | undefined;
    return content === undefined ? undefined : { type: "file", mode: undefined, content };
  }

  #index(): Map<string, KeptImage> {
    const newest = new Map<string, KeptImage>();
    for (const image of this.#images) {
      if (image.place === PLACES.disk + this.root) newest.set(image.path, image);
      if (image.place === PLACES.tree + this.root)
        for (const path of pathsOfSet(image.path)) newest.set(path, image);
    }
    return newest;
  }

  async #entryOfBase(path: string): Promise<TreeEntry | undefined> {
    if (this.#inBase === undefined) {
      this.#inBase = new Map();
      for (const part of this.base?.parts ?? []) {
        const { facts } = (await part.before()) as { facts: object };
        for (const name of Object.keys(facts)) this.#inBase.set(name, part);
      }
    }
    const part = this.#inBase.get(path);
    return part && this.#of(part, path);
  }

  async #of(image: KeptImage, path: string): Promise<TreeEntry | undefined> {
    if (this.#read?.image !== image) this.#read = { image, set: (await image.after()) as EntrySet };
    const { entries } = this.#read.set;
    return Object.hasOwn(entries, path) ? entries[path] : undefined;
  }
}
