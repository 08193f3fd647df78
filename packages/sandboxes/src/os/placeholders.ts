/**
 * Empty directories that lie in a workspace while commands run, so that something can be mounted where nothing is.
 *
 * Processes with sandboxes on one directory share them: who is there is written down, and the last to leave removes
 * them. One that has got content in the meantime is somebody's, and stays. What a killed process left is removed by a
 * shell that watches it, or else by the next one.
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
import { join } from "node:path";
import { isAlive, ownProcess } from "./live-process.ts";
import { watchPlaceholders } from "./placeholder-watch.ts";
import { stateSubdirectory } from "./state-directory.ts";

/** Milliseconds they stay after a command, so that the next one finds them. */
const LINGER = 1000;
const LOCK_PATIENCE = 3000;
/** A path a line, the deepest first. */
const MADE = "made";

export class Placeholders {
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
  make(paths: readonly string[]): ReadonlySet<string> {
    const impossible = new Set<string>();
    const fresh = paths.filter((path) => this.#makeOne(path, impossible));
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
      const stats = lstatSync(join(this.#rootDir, path), { throwIfNoEntry: false });
      if (!stats?.isDirectory() || !isEmpty(join(this.#rootDir, path))) this.#made.delete(path);
    }
  }

  #makeOne(path: string, impossible: Set<string>): boolean {
    try {
      mkdirSync(join(this.#rootDir, path), { mode: 0o755 });
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
        removeEmpty(join(this.#rootDir, path));
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
