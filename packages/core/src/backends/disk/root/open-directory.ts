/**
 * A directory held open. Its children are reached through it and not through its name.
 *
 * On Linux the descriptor is the address (`/proc/<pid>/fd/N`): a child is looked up in the directory that was opened,
 * even if the names of the directory and of those above it change.
 *
 * Elsewhere the address is a path. Each directory remembers the identity of itself and its ancestors, no link is
 * followed, and identities are compared before and after an operation. One race remains there: an ancestor that is
 * swapped for a link and back between the two comparisons goes unseen, and files created in between stay where they
 * were created. A directory that is removed and made again also goes unseen if the disk gives it the same number. A
 * process that can do either has write access to the root.
 */
import {
  accessSync,
  type BigIntStats,
  closeSync,
  type Dir,
  type Dirent,
  constants as flagsOf,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";

/** A name as text, or as its bytes where it is not UTF-8. */
export type EntryName = string | Buffer;

/** `descriptor` needs Linux with `/proc`; `path` works everywhere. */
export type OpenStrategy = "descriptor" | "path";

/** Linux, the same on every architecture Node is built for: a place in the tree, without the right to read. */
const O_PATH = 0o10000000;
const NO_FOLLOW = flagsOf.O_NOFOLLOW ?? 0;
const NON_BLOCKING = flagsOf.O_NONBLOCK ?? 0;
const DIRECTORY = O_PATH | (flagsOf.O_DIRECTORY ?? 0);
const CREATES = flagsOf.O_CREAT;

/** Bytes that the system reports for a directory. A larger one may have thousands of entries. */
const LARGE_DIRECTORY = 128 * 1024;
const ENTRIES_AT_ONCE = 1024;

/** Where the system shows our descriptors as paths; null where it does not. */
let descriptors: string | null | undefined;

/** The strategy of this machine. */
export function usualStrategy(): OpenStrategy {
  if (descriptors === undefined) descriptors = descriptorDirectory();
  return descriptors === null ? "path" : "descriptor";
}

/** By our number it is a link less to follow than by `self`, where both are the same. */
function descriptorDirectory(): string | null {
  if (process.platform !== "linux") return null;
  const candidates = [`/proc/${process.pid}/fd`, "/proc/self/fd"];
  return candidates.find(showsDescriptors) ?? null;
}

function showsDescriptors(directory: string): boolean {
  const descriptor = openSync("/", DIRECTORY);
  try {
    const held = fstatSync(descriptor, { bigint: true });
    const self = readlinkSync("/proc/self");
    return (
      sameFile(held, statSync(`${directory}/${descriptor}/.`, { bigint: true })) &&
      (directory.startsWith("/proc/self/") || self === String(process.pid))
    );
  } catch {
    return false;
  } finally {
    closeSync(descriptor);
  }
}

export class OpenDirectory {
  /** Where children are addressed: `${at}/${name}`. */
  readonly at: string;
  readonly strategy: OpenStrategy;
  #descriptor: number | undefined;
  /** With strategy `path`: the directories from the root down to this one, as they were. */
  readonly #chain: readonly Known[];

  private constructor(at: string, descriptor: number | undefined, chain: readonly Known[]) {
    this.at = at;
    this.strategy = descriptor === undefined ? "path" : "descriptor";
    this.#descriptor = descriptor;
    this.#chain = chain;
  }

  /** Follows links on the way to `hostPath` and at its end: the caller chooses the root. */
  static openRoot(hostPath: string, strategy: OpenStrategy = usualStrategy()): OpenDirectory {
    if (strategy === "descriptor") return OpenDirectory.#held(openSync(hostPath, DIRECTORY));
    const real = realpathSync.native(hostPath);
    return new OpenDirectory(real === "/" ? "" : real, undefined, [known(real)]);
  }

  /** The directory `name` in this one. A link is not followed: it throws `ENOTDIR`, as a file does. */
  child(name: EntryName): OpenDirectory {
    if (this.#descriptor !== undefined)
      return OpenDirectory.#held(openSync(this.path(name), DIRECTORY | NO_FOLLOW));
    const path = this.path(name);
    const chain = [...this.#chain, known(path)];
    this.#verify();
    return new OpenDirectory(path.toString(), undefined, chain);
  }

  /** The same directory a second time, to be closed separately. */
  again(): OpenDirectory {
    if (this.strategy === "path") return new OpenDirectory(this.at, undefined, this.#chain);
    return OpenDirectory.#held(openSync(this.path("."), DIRECTORY));
  }

  /** Whether `hostPath` leads to this directory now. */
  isAt(hostPath: string): boolean {
    const found = statSync(hostPath, { bigint: true, throwIfNoEntry: false });
    const held =
      this.#descriptor === undefined
        ? this.#chain.at(-1)?.stats
        : fstatSync(this.#descriptor, { bigint: true });
    return found !== undefined && held !== undefined && sameFile(found, held);
  }

  /** Tells the mount that the directory lies in from others; where the system does not number them, the device. */
  mount(): string {
    if (this.#descriptor === undefined) return `device ${this.lstat(".").dev}`;
    const info = readFileSync(this.at.replace(/fd\/(\d+)$/, "fdinfo/$1"), "utf8");
    return /^mnt_id:\s*\d+$/m.exec(info)?.[0] ?? `device ${this.lstat(".").dev}`;
  }

  static #held(descriptor: number): OpenDirectory {
    usualStrategy();
    return new OpenDirectory(`${descriptors}/${descriptor}`, descriptor, []);
  }

  /**
   * Opens a file for reading, or with `flags`, and never waits for the other end of a pipe. The caller checks it with
   * `fstat`, and closes it. A link throws `ELOOP`.
   */
  openFile(name: EntryName, flags: number = flagsOf.O_RDONLY, mode?: number): number {
    const path = this.path(name);
    if (this.#descriptor !== undefined) return openSync(path, flags | NO_FOLLOW | NON_BLOCKING, mode);
    const before = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (before?.isSymbolicLink()) throw systemError("ELOOP", "too many symbolic links encountered");
    if (before === undefined && !(flags & CREATES)) throw systemError("ENOENT", "no such file or directory");
    const descriptor = openSync(path, flags | NO_FOLLOW | NON_BLOCKING, mode);
    try {
      const after = before ?? lstatSync(path, { bigint: true });
      if (!sameFile(after, fstatSync(descriptor, { bigint: true }))) throw changed();
      this.#verify();
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return descriptor;
  }

  /** Throws where the file `name` may not be written to. A link throws `ELOOP`. */
  checkWritable(name: EntryName): void {
    if (this.#descriptor === undefined) {
      accessSync(this.path(name), flagsOf.W_OK);
      return;
    }
    const descriptor = this.openFile(name, O_PATH);
    try {
      if (fstatSync(descriptor).isSymbolicLink())
        throw systemError("ELOOP", "too many symbolic links encountered");
      accessSync(`${descriptors}/${descriptor}`, flagsOf.W_OK);
    } finally {
      closeSync(descriptor);
    }
  }

  /** As `openFile`, for a file in the directory `name` of this one. */
  openFileIn(name: string, file: string): number {
    const child = this.child(name);
    try {
      return child.openFile(file);
    } finally {
      child.close();
    }
  }

  /** The entries, in no order. A name that is not UTF-8 has U+FFFD in it; see `rawEntries`. */
  entries(): Dirent[] {
    return this.#checked(() => readdirSync(this.at || "/", { withFileTypes: true }));
  }

  /** As `entries`, some at a time where there may be very many. */
  *entryParts(): Generator<Dirent[]> {
    const at = this.at || "/";
    if (statSync(at).size <= LARGE_DIRECTORY) {
      yield this.entries();
      return;
    }
    const directory = opendirSync(at, { bufferSize: ENTRIES_AT_ONCE });
    try {
      for (;;) {
        const part = readEntries(directory);
        this.#verify();
        if (part.length === 0) return;
        yield part;
      }
    } finally {
      directory.closeSync();
    }
  }

  /** As `entries`, with names as bytes. */
  rawEntries(): Dirent<Buffer>[] {
    return this.#checked(() => readdirSync(this.at || "/", { withFileTypes: true, encoding: "buffer" }));
  }

  lstat(name: EntryName): Stats {
    return this.#checked(() => lstatSync(this.path(name)));
  }

  /** The stored target of the link `name`. */
  readLink(name: EntryName): string {
    return this.#checked(() => readlinkSync(this.path(name)));
  }

  /** The address of a child, for a call that has no method here. It must not follow a link at the end. */
  path(name: EntryName): string | Buffer {
    this.#verify();
    if (typeof name === "string") return `${this.at}/${name}`;
    return Buffer.concat([Buffer.from(`${this.at}/`), name]);
  }

  /** Safe to call twice. */
  close(): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    this.#descriptor = undefined;
    closeSync(descriptor);
  }

  /** Its present real path on the host. */
  hostPath(): string {
    if (this.strategy === "path") return this.at || "/";
    return readlinkSync(this.at);
  }

  #checked<Result>(act: () => Result): Result {
    const result = act();
    this.#verify();
    return result;
  }

  #verify(): void {
    if (this.strategy === "descriptor") {
      if (this.#descriptor === undefined) throw systemError("EBADF", "the directory was closed");
      return;
    }
    for (const { path, stats } of this.#chain)
      if (!sameFile(stats, lstatSync(path, { bigint: true }))) throw changed();
  }
}

function readEntries(directory: Dir): Dirent[] {
  const entries: Dirent[] = [];
  while (entries.length < ENTRIES_AT_ONCE) {
    const entry = directory.readSync();
    if (entry === null) break;
    entries.push(entry);
  }
  return entries;
}

interface Known {
  readonly path: string | Buffer;
  readonly stats: BigIntStats;
}

function known(path: string | Buffer): Known {
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isDirectory()) throw systemError("ENOTDIR", "not a directory");
  return { path, stats };
}

function sameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** Someone swapped a directory or a file while it was being opened. */
function changed(): Error {
  return systemError("ELOOP", "the file changed while it was opened");
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
