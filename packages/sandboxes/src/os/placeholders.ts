/**
 * What lies in a workspace while commands run, so that something can be mounted where nothing is: empty directories,
 * and files that say nothing.
 *
 * All sandboxes on one directory share them, those of a process and those of several: who is there is written down, and
 * the last to leave removes them, as whatever is mounted on one goes with it. One that has got content in the meantime
 * is somebody's, and stays. What a killed process left is removed by a shell that watches it, or else by the next one.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { isAlive, ownProcess } from "./live-process.ts";
import { watchPlaceholders } from "./placeholder-watch.ts";
import { stateSubdirectory } from "./state-directory.ts";

/** Milliseconds they stay after a command, so that the next one finds them. */
const LINGER = 1000;
const LOCK_PATIENCE = 3000;
/** A path a line, the deepest first. */
const MADE = "made";

/**
 * Those that are files, and what is in them. In a repository of its own, the first says that what it shares with others
 * is in itself.
 */
export const PLACEHOLDER_FILES: ReadonlyMap<string, string> = new Map([
  ["commondir", ".\n"],
  ["config.worktree", ""],
]);

export interface Missing {
  readonly path: string;
  /** Absent: a directory. */
  readonly isFile?: boolean;
}

const held = new Map<string, { readonly placeholders: Placeholders; holders: number }>();

/** One for all sandboxes of this process on a directory, whose path is real. `letGo` is called once, at the end. */
export function holdPlaceholders(
  rootDir: string,
  state: string,
): { readonly placeholders: Placeholders; readonly letGo: () => void } {
  const { dev, ino } = statSync(rootDir);
  const key = `${dev}-${ino}`;
  const own = held.get(key) ?? { placeholders: new Placeholders(rootDir, state), holders: 0 };
  held.set(key, own);
  own.holders += 1;
  const letGo = (): void => {
    own.holders -= 1;
    own.placeholders.close();
    if (own.holders === 0) held.delete(key);
  };
  return { placeholders: own.placeholders, letGo };
}

class Placeholders {
  readonly #rootDir: string;
  readonly #notes: string;
  readonly #made = new Set<string>();
  #users = 0;
  #isNoted = false;
  #timer: NodeJS.Timeout | undefined;
  #endWatch: (() => void) | undefined;
  readonly #onExit = (): void => this.#leave();

  /** `rootDir` is a real path. */
  constructor(rootDir: string, state: string) {
    const { dev, ino } = statSync(rootDir);
    this.#rootDir = rootDir;
    this.#notes = stateSubdirectory(stateSubdirectory(state, "guards"), `${dev}-${ino}`);
  }

  /** Whether an empty directory at this path, relative to the workspace, is one of ours. */
  has(path: string): boolean {
    return this.#made.has(path);
  }

  /** Until the returned function is called, they are there. */
  use(): () => void {
    clearTimeout(this.#timer);
    this.#users += 1;
    if (!this.#isNoted) this.#enter();
    let isUsed = true;
    return () => {
      if (!isUsed) return;
      isUsed = false;
      this.#users -= 1;
      if (this.#users > 0) return;
      this.#timer = setTimeout(this.#onExit, LINGER);
      this.#timer.unref();
    };
  }

  /** Makes those that are not there, while they are in use, and returns those that nobody can make here. */
  make(missing: readonly Missing[]): ReadonlySet<string> {
    const impossible = new Set<string>();
    const fresh = missing.filter((one) => this.#makeOne(one, impossible)).map(({ path }) => path);
    for (const path of fresh) this.#made.add(path);
    if (fresh.length > 0) {
      this.#locked(() => this.#note([...this.#noted(), ...fresh]));
      this.#endWatch ??= watchPlaceholders({
        rootDir: this.#rootDir,
        notes: this.#notes,
        own: ownProcess(),
        made: MADE,
      });
    }
    return impossible;
  }

  /** Removes them now, if no command needs them. Safe twice. */
  close(): void {
    if (this.#users > 0) return;
    this.#leave();
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  /** What has got content, or is gone, is not ours any more. */
  #refresh(): void {
    for (const path of this.#made) {
      const at = join(this.#rootDir, path);
      const isDirectory = lstatSync(at, { throwIfNoEntry: false })?.isDirectory();
      if (!(isDirectory ? isEmpty(at) : saysNothing(at))) this.#made.delete(path);
    }
  }

  #makeOne({ path, isFile }: Missing, impossible: Set<string>): boolean {
    const at = join(this.#rootDir, path);
    try {
      if (isFile) writeFileSync(at, PLACEHOLDER_FILES.get(basename(path)) ?? "", { flag: "wx", mode: 0o644 });
      else mkdirSync(at, { mode: 0o755 });
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") impossible.add(path);
      else if (code !== "EEXIST") throw error;
      return false;
    }
  }

  #enter(): void {
    this.#locked(() => {
      writeFileSync(join(this.#notes, ownProcess()), "");
      // What others made, or left behind, is as good as ours.
      for (const path of this.#noted()) this.#made.add(path);
    });
    this.#refresh();
    this.#isNoted = true;
    process.on("exit", this.#onExit);
  }

  #leave(): void {
    clearTimeout(this.#timer);
    if (!this.#isNoted) return;
    this.#isNoted = false;
    process.removeListener("exit", this.#onExit);
    this.#locked(() => {
      rmSync(join(this.#notes, ownProcess()), { force: true });
      const others = readdirSync(this.#notes).filter((name) => /^\d+\.\d+$/.test(name));
      for (const name of others) if (!isAlive(name)) rmSync(join(this.#notes, name), { force: true });
      if (others.some(isAlive)) return;
      for (const path of deepestFirst([...this.#noted(), ...this.#made]))
        removePlaceholder(join(this.#rootDir, path));
      rmSync(join(this.#notes, MADE), { force: true });
    });
    removeEmpty(this.#notes);
    this.#made.clear();
  }

  #noted(): string[] {
    try {
      return readFileSync(join(this.#notes, MADE), "utf8").split("\n").filter(Boolean);
    } catch {
      return [];
    }
  }

  #note(paths: readonly string[]): void {
    writeFileSync(
      join(this.#notes, MADE),
      deepestFirst(paths)
        .map((path) => `${path}\n`)
        .join(""),
    );
  }

  /** The steps are short, so waiting for others is too; a lock that outlasts the patience was left by a killed process. */
  #locked(act: () => void): void {
    const lock = join(this.#notes, "lock");
    const end = Date.now() + LOCK_PATIENCE;
    for (let held = false; !held; ) {
      try {
        mkdirSync(lock);
        held = true;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") mkdirSync(this.#notes, { recursive: true, mode: 0o700 });
        else if (code !== "EEXIST") throw error;
        else if (Date.now() > end) held = true;
        else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
    try {
      act();
    } finally {
      removeEmpty(lock);
    }
  }
}

function deepestFirst(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort().reverse();
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It has content, or is gone.
  }
}

function removePlaceholder(path: string): void {
  if (!saysNothing(path)) removeEmpty(path);
  else rmSync(path, { force: true });
}

/** Whether it is a file of ours as it was made. */
function saysNothing(path: string): boolean {
  const words = PLACEHOLDER_FILES.get(basename(path));
  if (words === undefined || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  try {
    return readFileSync(path, "utf8") === words;
  } catch {
    return false;
  }
}
