/** Walks from a root to where a path leads. Links that stay inside are followed here, never by the system. */
import { lchownSync, mkdirSync, type Stats } from "node:fs";
import { isAbsolute } from "node:path";
import { showPath } from "../../../paths.ts";
import { changedMeanwhile, FileFailure, notFound, outsideRoot, systemCode } from "../file-errors.ts";
import { ownerForRoot } from "./directory-owner.ts";
import type { OpenDirectory } from "./open-directory.ts";

const MAX_LINKS = 40;

export interface ResolveOptions {
  /** Makes the directories on the way. */
  readonly create?: boolean;
  /** Does not follow a link at the end. */
  readonly keepLink?: boolean;
  /** A file where a directory must be is then in the way, and else just makes that there is nothing. */
  readonly forChange?: boolean;
  /** A link on the way, or at the end, is an error. */
  readonly refuseLinks?: boolean | undefined;
}

/** Where a path leads. The caller closes `directory`. */
export interface ResolvedPath {
  readonly directory: OpenDirectory;
  /** The name on disk; `.` for the root itself. */
  readonly name: string;
  /** The canonical virtual path after links; with `keepLink` the path of the link. */
  readonly path: string;
  /** Stats of the entry; never of a link unless it was kept. Undefined: nothing is there. */
  readonly stats: Stats | undefined;
}

/** A directory on the way is missing. */
export interface MissingPath {
  readonly directory?: undefined;
  readonly path: string;
}

/** How a root is called. */
export interface RootNames {
  readonly hostPath: string;
  /** The virtual path of `inside`, a path below the root. */
  virtualPath(inside: string): string;
}

/** One way through the tree, from the root to where a path leads. */
export class PathWalk {
  readonly #requested: string;
  readonly #options: ResolveOptions;
  readonly #root: RootNames;
  /** From the root to where the walk stands. */
  readonly #directories: OpenDirectory[];
  /** The names of all but the first of them. */
  readonly #names: string[] = [];
  /** Names still to be walked, the next one last. */
  readonly #ahead: string[];
  #links = 0;
  /** How many directories above the root the walk stands: a link may go out and come back in. */
  #above = 0;
  #rootNames: readonly string[] | undefined;

  constructor(
    start: OpenDirectory,
    root: RootNames,
    requested: string,
    inside: string,
    options: ResolveOptions,
  ) {
    this.#directories = [start];
    this.#root = root;
    this.#requested = requested;
    this.#options = options;
    this.#ahead = inside.split("/").reverse();
  }

  run(): ResolvedPath | MissingPath {
    for (let name = this.#ahead.pop(); name !== undefined; name = this.#ahead.pop()) {
      if (name === "" || name === ".") continue;
      if (name === "..") this.#up();
      else if (this.#above > 0) this.#backDown(name);
      else {
        const end = this.#isLast() ? this.#arrive(name) : this.#enter(name);
        if (end !== undefined) return end;
      }
    }
    if (this.#above > 0) throw this.#outside();
    return this.#standing();
  }

  closeAll(): void {
    for (const directory of this.#directories) directory.close();
  }

  get #here(): OpenDirectory {
    return this.#directories.at(-1) as OpenDirectory;
  }

  #isLast(): boolean {
    return this.#ahead.every((name) => name === "" || name === ".");
  }

  /** At the last name: the place, or undefined where a link leads on. */
  #arrive(name: string): ResolvedPath | undefined {
    const found = this.#find(name);
    if (found?.stats.isSymbolicLink() && !this.#options.keepLink) {
      this.#follow(found.name);
      return undefined;
    }
    return this.#resolved(found?.name ?? name, found?.stats);
  }

  /** One directory down; the end only where there is none. */
  #enter(name: string): MissingPath | undefined {
    const found = this.#find(name);
    if (found === undefined) {
      // As the system has it: out of a directory that does not exist leads no way.
      if (this.#ahead.includes("..")) throw this.#missing();
      if (!this.#options.create) return this.#nowhere(name);
      this.#push(this.#made(name), name);
    } else if (found.stats.isSymbolicLink()) this.#follow(found.name);
    else if (found.stats.isDirectory()) this.#push(this.#here.child(found.name), found.name);
    else throw this.#blocked(name);
    return undefined;
  }

  /** Paths are NFC. If only another form of the name exists on disk, the path means that entry. */
  #find(name: string): { readonly name: string; readonly stats: Stats } | undefined {
    const stats = this.#look(name);
    if (stats !== undefined) return { name, stats };
    if (!/[^\p{ASCII}]/u.test(name)) return undefined;
    const composed = name.normalize("NFC");
    const stored = this.#here.entries().find((entry) => entry.name.normalize("NFC") === composed)?.name;
    const storedStats = stored === undefined ? undefined : this.#look(stored);
    return stored === undefined || storedStats === undefined
      ? undefined
      : { name: stored, stats: storedStats };
  }

  #look(name: string): Stats | undefined {
    try {
      return this.#here.lstat(name);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** A new directory, or one that another process made meanwhile. */
  #made(name: string): OpenDirectory {
    try {
      mkdirSync(this.#here.path(name), 0o755);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
      return this.#here.child(name);
    }
    const made = this.#here.child(name);
    try {
      const owner = ownerForRoot(this.#here);
      if (owner !== undefined) lchownSync(made.path("."), owner.uid, owner.gid);
      return made;
    } catch (error) {
      made.close();
      throw error;
    }
  }

  #push(directory: OpenDirectory, name: string): void {
    this.#directories.push(directory);
    this.#names.push(name);
  }

  #up(): void {
    if (this.#directories.length > 1) {
      this.#here.close();
      this.#directories.pop();
      this.#names.pop();
    } else if (this.#above < this.#namesOfRoot().length) this.#above += 1;
  }

  /** Above the root only the way back to it is open. */
  #backDown(name: string): void {
    const names = this.#namesOfRoot();
    if (name !== names[names.length - this.#above]) throw this.#outside();
    this.#above -= 1;
  }

  #follow(name: string): void {
    if (this.#options.refuseLinks)
      throw new FileFailure(
        "PERMISSION_DENIED",
        `'${showPath(this.#requested)}' leads through a link, and links are not followed there`,
      );
    this.#links += 1;
    if (this.#links > MAX_LINKS)
      throw new FileFailure("INVALID_PATH", `'${showPath(this.#requested)}' leads through too many links`);
    const target = this.#readLink(name);
    const parts = isAbsolute(target) ? this.#insideRoot(target) : namesOf(target);
    this.#ahead.push(...parts.reverse());
  }

  /** A link may have become something else by now. */
  #readLink(name: string): string {
    try {
      return this.#here.readLink(name);
    } catch (error) {
      if (systemCode(error) !== "EINVAL") throw error;
      throw new FileFailure("CONFLICT", changedMeanwhile(this.#requested).error);
    }
  }

  /** An absolute target as seen from the root; the walk then stands at the root. */
  #insideRoot(target: string): string[] {
    const names = namesOf(target);
    const root = [this.#namesOfRoot(), namesOf(this.#root.hostPath)].find((candidate) =>
      candidate.every((name, index) => names[index] === name),
    );
    if (root === undefined) throw this.#outside();
    for (const directory of this.#directories.splice(1)) directory.close();
    this.#names.length = 0;
    return names.slice(root.length);
  }

  #namesOfRoot(): readonly string[] {
    this.#rootNames ??= namesOf((this.#directories[0] as OpenDirectory).hostPath());
    return this.#rootNames;
  }

  /** The path ended with a directory the walk stands in: `/`, or a link to `..` or `.`. */
  #standing(): ResolvedPath {
    const directory = this.#here;
    const path = this.#pathOf([]);
    for (const other of this.#directories.slice(0, -1)) other.close();
    return { directory, name: ".", path, stats: directory.lstat(".") };
  }

  #resolved(name: string, stats: Stats | undefined): ResolvedPath {
    const directory = this.#here;
    const path = this.#pathOf([name]);
    for (const other of this.#directories.slice(0, -1)) other.close();
    return { directory, name, path, stats };
  }

  #nowhere(name: string): MissingPath {
    const rest = this.#ahead.toReversed().filter((part) => part !== "" && part !== ".");
    this.closeAll();
    return { path: this.#pathOf([name, ...rest]) };
  }

  /** The virtual path that `names` lead to from the present position of the walk. */
  #pathOf(names: readonly string[]): string {
    return this.#root.virtualPath(`/${[...this.#names, ...names].join("/")}`.normalize("NFC"));
  }

  /** A file stands where a directory must be. */
  #blocked(name: string): FileFailure {
    const path = this.#requested;
    if (!this.#options.forChange) return this.#missing();
    const file = this.#pathOf([name]);
    return new FileFailure(
      "NOT_A_DIRECTORY",
      `Cannot write to ${showPath(path)} because ${showPath(file)} is a file`,
    );
  }

  #missing(): FileFailure {
    return new FileFailure("FILE_NOT_FOUND", notFound(this.#requested).error);
  }

  #outside(): FileFailure {
    return new FileFailure("OUTSIDE_ROOT", outsideRoot(this.#requested).error);
  }
}

/** The names of a host path from the top, as they are written. */
function namesOf(hostPath: string): string[] {
  const parts = hostPath.split(process.platform === "win32" ? /[\\/]/ : "/");
  return parts.filter((part) => part !== "" && part !== ".");
}
