/**
 * Keeps control files unchanged while commands run.
 *
 * A link or a missing file cannot be mounted over. So their directories are watched, and checked when a command ends. A
 * replaced link is put back, and the command is ended. A new control file is moved aside, under a harmless name, and
 * the result of the command says so.
 */
import { randomBytes } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandWatch } from "../usage-watch.ts";
import { isIn, type WorkspaceRoot } from "./workspace-root.ts";
import { isControlName } from "./workspace-search.ts";

/** How often a link is put back when a command that is about to end is quicker. */
const ATTEMPTS = 20;
/** A command that keeps creating files that are moved aside is ended. */
const MAX_MOVED = 8;

/** Paths are relative to the workspace. */
export interface KeptControls {
  /** At the top. */
  readonly links: readonly string[];
  /** Where nothing is. */
  readonly absent: readonly string[];
  /** Nothing with the name of a control file may appear at the top. */
  readonly watchesTop: boolean;
}

/** For one command. */
export interface Keeping {
  /** All processes below end with `pid`. */
  watch(pid: number): CommandWatch;
  /** When the command has ended. */
  leave(): void;
}

interface Running {
  readonly root: WorkspaceRoot;
  readonly notices: string[];
  pid: number | undefined;
  reason: string | undefined;
}

const kept = new Map<string, ControlWatch>();

/** Undoes changes of control files in the workspace by a running command of this process. */
export function checkControls(root: WorkspaceRoot): void {
  kept.get(root.identity)?.check();
}

/**
 * Keeps the control files as they are now, for one command. All sandboxes of this process share what they know about a
 * workspace.
 */
export function keepControls(root: WorkspaceRoot, controls: KeptControls): Keeping {
  const own = kept.get(root.identity) ?? new ControlWatch();
  kept.set(root.identity, own);
  return own.keep(root, controls);
}

/**
 * Announces that file operations may change these paths: new files there are not moved. `isDone` says whether the
 * change was made.
 */
export function allowChanges(root: WorkspaceRoot, paths: readonly string[]): (isDone: boolean) => void {
  return kept.get(root.identity)?.allow(paths) ?? (() => {});
}

class ControlWatch {
  /** Links, and where they led when the first of the commands that run began. */
  readonly #links = new Map<string, string>();
  readonly #absent = new Set<string>();
  /** Control names at the top when the first command began; undefined: no command needs them. */
  #top: ReadonlySet<string> | undefined;
  /** Paths that file operations have changed, or are about to change. */
  readonly #allowed = new Set<{ readonly path: string }>();
  readonly #running = new Set<Running>();
  /** By directory, relative to the workspace. */
  readonly #watchers = new Map<string, FSWatcher | undefined>();
  #moved = 0;

  /** Whether something is to be undone is asked again and again: it costs a listing and a few lookups. */
  check(): void {
    const [first] = this.#running;
    if (first === undefined) return;
    const { root } = first;
    for (const [path, target] of this.#links) this.#end(putBack(root, path, target));
    for (const path of this.#appeared(root)) this.#moveAside(root, path);
  }

  allow(paths: readonly string[]): (isDone: boolean) => void {
    const allowed = paths.map((path) => ({ path }));
    for (const one of allowed) this.#allowed.add(one);
    return (isDone) => {
      if (!isDone) for (const one of allowed) this.#allowed.delete(one);
    };
  }

  keep(root: WorkspaceRoot, { links, absent, watchesTop }: KeptControls): Keeping {
    for (const path of links) {
      const target = root.linkTarget(join(root.path, path));
      if (target !== undefined && !this.#links.has(path)) this.#links.set(path, target);
    }
    for (const path of absent) this.#absent.add(path);
    if (watchesTop) this.#top ??= new Set(controlsAt(root));
    this.#watch(root);
    const running: Running = { root, notices: [], pid: undefined, reason: undefined };
    this.#running.add(running);
    return {
      watch: (pid) => {
        running.pid = pid;
        if (running.reason !== undefined) kill(pid);
        const looked = <Found>(found: () => Found): Found => {
          this.check();
          return found();
        };
        return {
          exceeded: () => looked(() => running.reason),
          notices: () => looked(() => running.notices),
          stop: () => {},
        };
      },
      leave: () => this.#leave(running),
    };
  }

  #leave(running: Running): void {
    this.check();
    this.#running.delete(running);
    if (this.#running.size > 0) return;
    for (const watcher of this.#watchers.values()) watcher?.close();
    kept.delete(running.root.identity);
  }

  /** Watches by name. If a name was replaced, changes show only at the end of the command. */
  #watch(root: WorkspaceRoot): void {
    const parents = [...this.#links.keys(), ...this.#absent].map((path) => dirname(path));
    for (const directory of new Set([...(this.#top === undefined ? [] : ["."]), ...parents])) {
      if (this.#watchers.has(directory)) continue;
      this.#watchers.set(
        directory,
        watched(join(root.path, directory), (name) => {
          const path = name === null ? "" : join(directory, name);
          const isMeant = this.#links.has(path) || this.#absent.has(path);
          if (name === null || isMeant || (directory === "." && isControlName(name))) this.check();
        }),
      );
    }
  }

  #appeared(root: WorkspaceRoot): string[] {
    const atTop = this.#top === undefined ? [] : controlsAt(root);
    const fresh = atTop.filter((name) => !this.#top?.has(name) && !this.#links.has(name));
    const filled = [...this.#absent].filter((path) => root.stats(join(root.path, path)) !== undefined);
    return [...fresh, ...filled].filter((path) => !this.#isAllowed(path));
  }

  #isAllowed(path: string): boolean {
    return [...this.#allowed].some((one) => one.path === path || isIn(one.path, path));
  }

  #moveAside(root: WorkspaceRoot, path: string): void {
    const name = `${basename(path)}.blocked-${randomBytes(4).toString("hex")}`;
    const made = `'${path}' was created while the command ran. It would steer other programs, or has to stay read-only`;
    try {
      root.rename(join(root.path, path), name);
      this.#moved += 1;
    } catch (error) {
      this.#end(`${made}, and could not be moved (${(error as NodeJS.ErrnoException).code})`);
      return;
    }
    for (const { notices } of this.#running)
      notices.push(`${made}, so it was moved to '${join(dirname(path), name)}'.`);
    if (this.#moved > MAX_MOVED) this.#end(`'${path}' was created again and again`);
  }

  #end(reason: string | undefined): void {
    if (reason === undefined) return;
    for (const running of this.#running) {
      running.reason ??= reason;
      kill(running.pid);
    }
  }
}

function controlsAt(root: WorkspaceRoot): string[] {
  return root
    .entries(root.path)
    .map(({ name }) => name)
    .filter(isControlName);
}

function watched(directory: string, act: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(directory, { persistent: false }, (_, name) => act(name)).on("error", () => {});
  } catch {
    // No more can be watched, or it is not there: it is looked at when the command ends.
    return undefined;
  }
}

/**
 * Returns why running commands are ended; undefined: the link is unchanged. Its replacement is moved aside, because it
 * may be somebody's work.
 */
function putBack(root: WorkspaceRoot, path: string, target: string): string | undefined {
  const at = join(root.path, path);
  let aside: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const found = root.linkTarget(at);
    if (found === target && attempt === 0) return undefined;
    if (found === target) break;
    try {
      if (root.stats(at) !== undefined) {
        aside = `${path}.replaced-${randomBytes(4).toString("hex")}`;
        root.rename(at, aside);
      }
      root.symlink(at, target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST" && code !== "ENOENT")
        return `${replaced(path)}, and could not be put back (${code})`;
    }
  }
  return `${replaced(path)}. It was put back${aside === undefined ? "" : `; what was in its place is '${aside}' now`}`;
}

function replaced(path: string): string {
  return `'${path}' steers other programs and is a link, which was removed or replaced while the command ran`;
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}
