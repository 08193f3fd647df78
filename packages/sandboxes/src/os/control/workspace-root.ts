/**
 * A workspace that is held open. Its files are looked up from its descriptor, name by name, and no link in it is
 * followed. So a command that replaces a directory by a link gains nothing.
 */
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  type Stats,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, normalize, relative } from "node:path";

/** Linux: a place in the tree, without the right to read. */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Nothing is there or can be, or a file or a link where a directory has to be. */
const MISSING = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

/** Below it, not the directory itself. */
export function isIn(path: string, directory: string): boolean {
  return path.startsWith(directory === "/" ? directory : `${directory}/`) && path !== directory;
}

/** Opens a path outside of any workspace, chosen by the developer: links are followed. */
export function openPath(path: string): number {
  return openSync(path, O_PATH);
}

/** Paths are absolute. Paths outside the workspace, which no command can change, are looked up by name. */
export class WorkspaceRoot {
  /** A real path. */
  readonly path: string;
  readonly descriptor: number;
  /** The same for all that hold this directory. */
  readonly identity: string;
  #isOpen = true;

  constructor(path: string) {
    this.path = path;
    this.descriptor = openPath(path);
    this.identity = identityOf(fstatSync(this.descriptor));
  }

  /** False: it was removed, or something else has its name. */
  get isThere(): boolean {
    const stats = statSync(this.path, { throwIfNoEntry: false });
    return stats !== undefined && identityOf(stats) === this.identity;
  }

  stats(path: string): Stats | undefined {
    if (this.#has(path)) return this.#in(path, (at) => lstatSync(at, { throwIfNoEntry: false }));
    return ifThere(() => lstatSync(path, { throwIfNoEntry: false }));
  }

  /** The stored target of a link; undefined: it is no link. */
  linkTarget(path: string): string | undefined {
    try {
      return this.#has(path) ? this.#in(path, (at) => readlinkSync(at)) : readlinkSync(path);
    } catch {
      return undefined;
    }
  }

  /** None where it cannot be read. */
  entries(path: string): Dirent[] {
    try {
      if (path === this.path) return readdirSync(this.#at, { withFileTypes: true });
      if (!this.#has(path)) return readdirSync(path, { withFileTypes: true });
      return this.#in(`${path}/.`, (at) => readdirSync(at, { withFileTypes: true })) ?? [];
    } catch {
      return [];
    }
  }

  /** Undefined: there is no file. `check` throws for a file that must not be read. */
  read(path: string, check: (stats: Stats) => void = () => {}): Buffer | undefined {
    if (!this.#has(path))
      return ifThere(() => readFile(path, statSync(path, { throwIfNoEntry: false }), check));
    return this.#in(path, (at) => readFile(at, lstatSync(at, { throwIfNoEntry: false }), check, O_NOFOLLOW));
  }

  /** Renames inside its directory in the workspace. An existing file with the new name is replaced. */
  rename(path: string, name: string): void {
    this.#in(path, (at) => renameSync(at, `${dirname(at)}/${name}`));
  }

  /** Throws where something is there. */
  symlink(path: string, target: string): void {
    this.#in(path, (at) => symlinkSync(target, at));
  }

  /** Safe twice. */
  close(): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
  }

  get #at(): string {
    return `/proc/self/fd/${this.descriptor}`;
  }

  #has(path: string): boolean {
    return isIn(normalize(path), this.path);
  }

  /** Calls `act` with a path in which only the last name is looked up. Undefined: there is no such directory. */
  #in<Result>(path: string, act: (at: string) => Result): Result | undefined {
    const isDirectory = path.endsWith("/.");
    const names = relative(this.path, normalize(path)).split("/");
    const name = isDirectory ? "." : (names.pop() as string);
    const opened: number[] = [];
    try {
      return ifThere(() => {
        let at = this.#at;
        for (const one of names) {
          opened.push(openSync(`${at}/${one}`, O_PATH | O_DIRECTORY | O_NOFOLLOW));
          at = `/proc/self/fd/${opened.at(-1)}`;
        }
        return act(`${at}/${name}`);
      });
    } finally {
      for (const descriptor of opened) closeSync(descriptor);
    }
  }
}

/** Undefined where nothing is there. */
function ifThere<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** Devices and pipes are not opened: that alone may do something. */
function readFile(
  at: string,
  found: Stats | undefined,
  check: (stats: Stats) => void,
  flags = 0,
): Buffer | undefined {
  if (found === undefined) return undefined;
  check(found);
  if (!found.isFile()) return undefined;
  const descriptor = openSync(at, O_NONBLOCK | flags);
  try {
    const stats = fstatSync(descriptor);
    check(stats);
    return stats.isFile() ? readFileSync(descriptor) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
