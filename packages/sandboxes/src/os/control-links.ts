/**
 * Links in the place of files that steer other programs.
 *
 * What such a link leads to can be mounted read-only, the link itself cannot: a mount on it would be one on what it
 * leads to. So while commands run it is watched, and put back when one has replaced it, which ends the command.
 */
import { randomBytes } from "node:crypto";
import { type FSWatcher, lstatSync, renameSync, symlinkSync, watch } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { followPath, isIn, linkTarget } from "./followed-path.ts";
import type { CommandWatch } from "./usage-watch.ts";

/** How often it is put back when a command that is about to end is quicker. */
const ATTEMPTS = 20;

export interface LinkEnd {
  /** What it leads to, relative to the workspace; absent: it is not in it, so no command can change it. */
  readonly inside?: string;
}

/**
 * Followed on this machine, name by name. Undefined: a command could lead it elsewhere, since it passes by other names
 * in the workspace, or all of the workspace is what it leads to.
 */
export function endOfLink(rootDir: string, path: string): LinkEnd | undefined {
  const start = join(rootDir, path);
  const end = followPath(rootDir, { from: dirname(start), path: basename(start) }, start);
  if (end === undefined || end === rootDir || isIn(rootDir, end)) return undefined;
  return isIn(end, rootDir) ? { inside: relative(rootDir, end) } : {};
}

interface Running {
  pid: number | undefined;
  reason: string | undefined;
}

/** For one command. */
export interface Keeping {
  /** `pid` is a process whose end ends all below it. */
  watch(pid: number): CommandWatch;
  /** When the command has ended. */
  leave(): void;
}

const kept = new Map<string, KeptLinks>();

/** Puts back what a command that runs in this process has replaced in the directory, whose path is real. */
export function checkLinks(rootDir: string): void {
  kept.get(rootDir)?.check();
}

/** Keeps links at the top of the directory as they are now, for one command. All sandboxes of this process share what is known. */
export function keepLinks(rootDir: string, paths: readonly string[]): Keeping {
  const links = kept.get(rootDir) ?? new KeptLinks(rootDir);
  kept.set(rootDir, links);
  return links.keep(paths);
}

class KeptLinks {
  readonly #rootDir: string;
  /** Where they led when the first of the commands that run began. */
  readonly #known = new Map<string, string>();
  readonly #running = new Set<Running>();
  #watcher: FSWatcher | undefined;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
  }

  check(): void {
    for (const [path, target] of this.#known) {
      const reason = this.#putBack(path, target);
      if (reason === undefined) continue;
      for (const running of this.#running) {
        running.reason ??= reason;
        end(running.pid);
      }
    }
  }

  keep(paths: readonly string[]): Keeping {
    for (const path of paths) if (!this.#known.has(path)) this.#add(path);
    const running: Running = { pid: undefined, reason: undefined };
    this.#running.add(running);
    this.#watcher ??= this.#watch();
    return {
      watch: (pid) => {
        running.pid = pid;
        if (running.reason !== undefined) end(pid);
        const exceeded = (): string | undefined => {
          this.check();
          return running.reason;
        };
        return { exceeded, stop: () => {} };
      },
      leave: () => {
        this.check();
        this.#running.delete(running);
        if (this.#running.size > 0) return;
        this.#watcher?.close();
        this.#watcher = undefined;
        this.#known.clear();
        kept.delete(this.#rootDir);
      },
    };
  }

  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#rootDir, { persistent: false }, (_, name) => {
        if (name === null || this.#known.has(name)) this.check();
      });
      return watcher.on("error", () => {});
    } catch {
      // No more can be watched: it is put back when the command ends.
      return undefined;
    }
  }

  #add(path: string): void {
    const target = linkTarget(join(this.#rootDir, path));
    if (target !== undefined) this.#known.set(path, target);
  }

  /** Why the commands that run are ended; undefined: it is as it was. What took its place is moved aside, since it may be somebody's. */
  #putBack(path: string, target: string): string | undefined {
    const at = join(this.#rootDir, path);
    let aside: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const found = linkTarget(at);
      if (found === target && attempt === 0) return undefined;
      if (found === target) break;
      try {
        if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) {
          aside = `${path}.replaced-${randomBytes(4).toString("hex")}`;
          renameSync(at, join(this.#rootDir, aside));
        }
        symlinkSync(target, at);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "EEXIST" && code !== "ENOENT")
          return `${replaced(path)}, and could not be put back (${code})`;
      }
    }
    return `${replaced(path)}. It was put back${aside === undefined ? "" : `; what was in its place is '${aside}' now`}`;
  }
}

function replaced(path: string): string {
  return `'${path}' steers other programs and is a link, which was removed or replaced while the command ran`;
}

function end(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
