/**
 * Puts files outside the state back to where some of their changes never happened.
 *
 * Each file is decided about by itself: it changes as a whole or stays. What is about to be written is recorded first,
 * so a restore that is broken off is done again from the start, and what it replaced can be brought back.
 */
import { DeepwrightError } from "deepwright/errors";
import {
  type FoundEntry,
  type ImageAuthor,
  PLACES,
  RESTORED_MODE,
  sameEntry,
  systemCode,
  type TreeEntry,
  WorkTree,
} from "deepwright/internal";
import { searchEnd } from "../file-changes.ts";
import { DISK } from "../images.ts";
import type { FileChange, NotCovered, RewindConflict } from "../threads.ts";
import { entryChange } from "./entry-change.ts";
import { MovedEntries } from "./moved-entries.ts";
import { type Choice, movesOf, planFor } from "./plan.ts";
import type { Entry, FileTimeline } from "./timeline.ts";

export interface FilesReport {
  readonly restored: readonly FileChange[];
  readonly conflicts: readonly RewindConflict[];
  readonly notCovered: readonly NotCovered[];
}

export interface WrittenFiles extends FilesReport {
  /** Paths that the disk refused, each with the reason. They are conflicts too, until it takes them. */
  readonly unwritten: readonly string[];
}

export interface RestoreRequest {
  readonly files: readonly FileTimeline[];
  readonly choice: Choice;
  /** Real paths of directories that may be written to. */
  readonly roots: ReadonlySet<string>;
  /** Records what is about to be written; absent: nothing is written. */
  readonly record?: ((place: string, changes: readonly Change[]) => Promise<void>) | undefined;
  readonly by?: ImageAuthor;
  /** Ends the name of content that is put beside a file that stays. Default: `restored`, on the way back only. */
  readonly keptAs?: string;
}

/** One entry that is written. */
export interface Change {
  readonly path: string;
  readonly before: Entry;
  readonly after: Entry;
}

interface Step extends Change {
  readonly place: string;
  readonly found: FoundEntry;
}

export async function restoreFiles(request: RestoreRequest): Promise<WrittenFiles> {
  const unwritten: string[] = [];
  const restored: FileChange[] = [];
  const conflicts: RewindConflict[] = [];
  const notCovered: NotCovered[] = [];
  for (const [place, files] of byPlace(request)) {
    const root = place.startsWith(DISK) ? place.slice(DISK.length) : undefined;
    if (root === undefined || !request.roots.has(root)) {
      notCovered.push(...files.map(({ path }) => ({ place, path, reason: NOT_NAMED })));
      continue;
    }
    const restore = new DirectoryRestore(place, new WorkTree(root), request);
    await restore.run(files);
    restored.push(...restore.restored);
    conflicts.push(...restore.conflicts);
    notCovered.push(...restore.notCovered);
    unwritten.push(...restore.unwritten);
  }
  return {
    restored: sorted(restored),
    conflicts: sorted(conflicts),
    notCovered: sorted(notCovered),
    unwritten,
  };
}

function sorted<Item extends { readonly path?: string; readonly place?: string }>(
  items: readonly Item[],
): Item[] {
  const key = ({ place = "", path = "" }: Item): string => JSON.stringify([place, path]);
  return [...items].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

const NOT_NAMED = "Its directory was not named as one to restore.";
const SET_ID = "Its set-user-ID and set-group-ID bits are not put back.";
const CHANGED = "It was changed since by a person or program, not by the agent.";

function byPlace({ files, choice }: RestoreRequest): Map<string, FileTimeline[]> {
  const places = new Map<string, FileTimeline[]>();
  for (const file of files) {
    if (movesOf(file, choice).length === 0) continue;
    const known = places.get(file.place) ?? [];
    places.set(file.place, known);
    known.push(file);
  }
  return places;
}

/** Files that are decided about, recorded and written together. */
const TOGETHER = 64;
const MOST_TRIES = 100;

class DirectoryRestore {
  readonly restored: FileChange[] = [];
  readonly conflicts: RewindConflict[] = [];
  readonly notCovered: NotCovered[] = [];
  readonly unwritten: string[] = [];
  readonly #searchUntil = searchEnd();
  readonly #modes = new Map<string, number>();
  readonly #moved: MovedEntries;
  /** Paths of moved entries that are noted. */
  readonly #staying = new Set<string>();
  /** Paths that are gone, or would be after a preview. */
  readonly #gone = new Set<string>();
  /** Files in directories that could not be entered; `undefined` when they had their second turn. */
  #blocked: FileTimeline[] | undefined = [];

  constructor(
    private readonly place: string,
    private readonly tree: WorkTree,
    private readonly request: RestoreRequest,
  ) {
    this.#moved = new MovedEntries(tree);
  }

  /** Entries that go first, the deepest first; then those that come, the highest first. */
  async run(files: readonly FileTimeline[]): Promise<void> {
    const later: FileTimeline[] = [];
    await this.#moved.look(files, this.request.choice);
    await this.#all(files.toReversed(), async (step, file) => {
      if (step.after === undefined) return true;
      later.push(file);
      return false;
    });
    await this.#all(later.toReversed(), async () => true);
    const blocked = this.#blocked ?? [];
    this.#blocked = undefined;
    await this.#all(blocked, async () => true);
    if (this.request.record === undefined) return;
    for (const [path, mode] of [...this.#modes].toReversed()) await this.tree.setMode(path, mode);
  }

  /** `isNow` says whether a step is made now. */
  async #all(
    files: readonly FileTimeline[],
    isNow: (step: Step, file: FileTimeline) => Promise<boolean>,
  ): Promise<void> {
    for (let start = 0; start < files.length; start += TOGETHER) {
      const steps: Step[] = [];
      for (const file of files.slice(start, start + TOGETHER)) {
        const step = await this.#stepFor(file);
        if (step && (await isNow(step, file))) steps.push(step);
      }
      if (steps.length === 0) continue;
      await this.request.record?.(this.place.replace(DISK, PLACES.tree), steps);
      for (const step of steps) await this.#make(step);
    }
  }

  /** Undefined where nothing is to be done; conflicts are noted. */
  async #stepFor(file: FileTimeline): Promise<Step | undefined> {
    const { path } = file;
    const { place } = this;
    try {
      const found = await this.tree.read(path);
      const moves = movesOf(file, this.request.choice);
      const plan = await planFor(found.entry, moves);
      if (plan.kind === "write" || plan.kind === "conflict") this.tree.checkRestorable(path);
      const isRemoved = plan.kind === "write" && plan.entry === undefined;
      const isIgnored = plan.kind === "not-kept" && found.entry?.type === "directory";
      if ((isRemoved || isIgnored) && (await this.#stays(path, found))) return undefined;
      if (plan.kind === "write") return { place, path, found, before: found.entry, after: plan.entry };
      if (plan.kind === "not-kept") this.notCovered.push({ place, path, reason: plan.reason });
      // Forward again, the person's file is the answer to the one put beside it on the way back.
      const isForward = moves.at(-1)?.isForward === true;
      if (plan.kind === "conflict")
        await this.#keepBeside(
          path,
          found.entry,
          isForward && !this.request.keptAs ? undefined : plan.wanted,
        );
    } catch (error) {
      if (this.#blocked && systemCode(error) === "EACCES") this.#blocked.push(file);
      else this.#failed(path, error);
    }
    return undefined;
  }

  #noteMode(path: string, entry: Entry): void {
    const mode = entry?.type === "file" || entry?.type === "directory" ? (entry.mode ?? 0) : 0;
    if ((mode & ~RESTORED_MODE) !== 0) this.notCovered.push({ place: this.place, path, reason: SET_ID });
  }

  /** Whether the entry is the only copy of something that was moved. */
  async #stays(path: string, found: FoundEntry): Promise<boolean> {
    const moved = await this.#moved.at(path, found);
    if (moved === undefined) return false;
    if (!this.#staying.has(moved.path)) this.notCovered.push({ place: this.place, ...moved });
    this.#staying.add(moved.path);
    return true;
  }

  async #make(step: Step): Promise<void> {
    const { path, after, place } = step;
    const change = await entryChange(step, this.#searchUntil);
    try {
      const isDone = this.request.record === undefined ? await this.#wouldPut(step) : await this.#put(step);
      if (!isDone) {
        this.conflicts.push({ path, place, reason: await this.#whyNot(path, after) });
        return;
      }
      if (after === undefined) this.#gone.add(path);
      this.#noteMode(path, after);
      if (after?.type === "directory" && after.mode !== undefined) {
        this.#modes.set(path, after.mode);
        if (this.request.record !== undefined) await this.tree.setMode(path, after.mode | 0o700);
      }
      if (change) this.restored.push(change);
    } catch (error) {
      this.#failed(path, error);
    }
  }

  /** Writing one of two hard links changes the times of the other, so an entry with the same content has another try. */
  async #put({ path, found, before, after }: Step): Promise<boolean> {
    if (await this.tree.put(path, found, after)) return true;
    const again = await this.tree.read(path);
    return sameEntry(again.entry, before) && this.tree.put(path, again, after);
  }

  /** A directory goes only with everything in it. */
  async #wouldPut({ path, before, after }: Step): Promise<boolean> {
    if (before?.type !== "directory" || after?.type === "directory") return true;
    return (await this.tree.namesIn(path)).every((name) => this.#gone.has(`${path}/${name}`));
  }

  async #whyNot(path: string, wanted: Entry): Promise<string> {
    const { entry } = await this.tree.read(path);
    return entry?.type === "directory" && wanted?.type !== "directory"
      ? "It is a directory with other files in it."
      : CHANGED;
  }

  /** A file that somebody changed stays. Its wanted content is put beside it, under a name that is free. */
  async #keepBeside(path: string, current: Entry, wanted: Entry): Promise<void> {
    const { place } = this;
    const conflict = { path, place, reason: CHANGED };
    if (wanted?.type !== "file" || current === undefined) {
      this.conflicts.push(conflict);
      return;
    }
    for (let number = 1; number < MOST_TRIES; number += 1) {
      const keptAt = `${path}.${this.request.keptAs ?? "restored"}${number === 1 ? "" : `-${number}`}`;
      const found = await this.tree.read(keptAt);
      const isThere = found.entry?.type === "file" && same(found.entry, wanted);
      if (found.entry !== undefined && !isThere) continue;
      if (!isThere && this.request.record !== undefined) await this.tree.put(keptAt, found, wanted);
      this.conflicts.push({ ...conflict, keptAt });
      return;
    }
    this.conflicts.push(conflict);
  }

  #failed(path: string, error: unknown): void {
    if (DISK_REFUSES.has(systemCode(error) ?? "")) this.unwritten.push(`${path} (${systemWords(error)})`);
    this.conflicts.push({ path, place: this.place, reason: whyFailed(error) });
  }
}

const DISK_REFUSES = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

/** An error of the system without the call and the path that Node adds. */
function systemWords(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return systemCode(error) === undefined ? words : (words.split(", ")[0] as string);
}

function whyFailed(error: unknown): string {
  return error instanceof DeepwrightError ? error.message : `It cannot be put back: ${systemWords(error)}.`;
}

function same(
  one: Extract<TreeEntry, { type: "file" }>,
  other: Extract<TreeEntry, { type: "file" }>,
): boolean {
  return Buffer.compare(Buffer.from(one.content), Buffer.from(other.content)) === 0;
}
