/**
 * How the files that steer other programs are shut for commands: what is there is seen read-only, and where nothing is
 * there yet lies an empty directory that cannot be written, moved or removed.
 *
 * This holds for the names at the top of the workspace, and for the repositories that were found in it when the
 * sandbox was opened. What a command makes in new directories of its own is not looked at.
 */
import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { CONTROL_NAMES, SandboxError } from "deepwright";
import { endOfLink } from "./control-links.ts";
import type { Missing } from "./placeholders.ts";
import { entriesOf, isConnection } from "./workspace-search.ts";

export interface ControlMounts {
  /** Paths relative to the workspace, in the order in which they are mounted. */
  readonly mounts: readonly ControlMount[];
  /** Those among them where nothing is yet: something has to be made there first. */
  readonly missing: readonly Missing[];
  /** Links at the top, which nothing can be mounted on and commands have to leave as they are. */
  readonly links: readonly string[];
}

export interface ControlMount {
  readonly path: string;
  /**
   * `pin` keeps the name and lets the content be changed; `closed` is an empty directory over the directory that is
   * there, `masked` a file that cannot be opened over the file.
   */
  readonly kind: "pin" | "readOnly" | "closed" | "masked";
}

/** In a repository, what names programs that git runs. Whatever else is in it, `git commit` needs to write. */
const GIT_PARTS = ["hooks", "config", "modules", "worktrees"];
/** Leads git to another repository's `config` and `hooks`, wherever it is. */
const GIT_LEAD = "commondir";
/** A second `config`, which git reads where the first says so. */
const GIT_SECOND = "config.worktree";

/** Those that mean something on the disks of Linux. */
const CLOSED_NAMES = [...CONTROL_NAMES.directories, ...CONTROL_NAMES.files].filter(
  (name) => !name.includes("~"),
);

export interface ControlRequest {
  /** A real path. */
  readonly rootDir: string;
  readonly repositories: readonly string[];
  /** Sockets and pipes, behind which are programs of this machine. */
  readonly connections: readonly string[];
  readonly readOnly: readonly string[];
  readonly hidden: readonly string[];
  readonly protectsControlFiles: boolean;
  /** Empty directories of ours that lie where nothing was. */
  readonly isPlaceholder: (path: string) => boolean;
}

export function controlMounts(request: ControlRequest): ControlMounts {
  const found = new Found(request);
  if (request.protectsControlFiles) {
    found.addTop();
    for (const repository of request.repositories) found.addRepository(repository);
  }
  for (const path of request.readOnly) found.addWithin(path, "readOnly", namedLink);
  for (const path of request.hidden) found.addWithin(path, "closed", namedLink);
  for (const path of request.connections) found.addConnection(path);
  const mounts = found.uncovered();
  const mounted = new Set(mounts.map(({ path }) => path));
  const missing = found.missing.filter(({ path }) => mounted.has(path));
  return { mounts, missing, links: found.links };
}

class Found {
  readonly mounts = new Map<string, ControlMount>();
  readonly missing: Missing[] = [];
  readonly links: string[] = [];
  readonly #request: ControlRequest;

  constructor(request: ControlRequest) {
    this.#request = request;
  }

  addTop(): void {
    const present = new Map<string, Dirent>();
    for (const entry of readdirSync(this.#request.rootDir, { withFileTypes: true }))
      if (isControlName(entry.name)) present.set(entry.name, entry);
    for (const name of CLOSED_NAMES) if (!present.has(name)) this.#close(name);
    for (const [name, entry] of present) {
      if (entry.isDirectory() && this.#request.isPlaceholder(name)) this.#close(name);
      else if (name.toLowerCase() === ".git") this.addRepository(name);
      else if (entry.isSymbolicLink()) this.#addLink(name);
      else this.#add(name, "readOnly");
    }
  }

  /** What it leads to is closed. That of a repository is refused, as git may obey it at any moment. */
  #addLink(path: string): void {
    const end = endOfLink(this.#request.rootDir, path);
    if (end === undefined) throw isLink(path);
    this.links.push(path);
    if (end.inside !== undefined) this.addWithin(end.inside, "readOnly");
  }

  /** `path` is a `.git`: a directory, or a file that names one. */
  addRepository(path: string): void {
    const stats = this.#stats(path);
    if (stats === undefined) return;
    for (const parent of parentsOf(path)) this.#add(parent, "pin");
    if (stats.isSymbolicLink()) throw isLink(path);
    if (!stats.isDirectory()) {
      this.#add(path, "readOnly");
      const elsewhere = this.#named(path);
      if (elsewhere === undefined || this.mounts.has(elsewhere)) return;
      if (this.#stats(elsewhere) === undefined) this.addWithin(elsewhere, "readOnly");
      else this.addRepository(elsewhere);
      return;
    }
    this.#add(path, "pin");
    for (const part of GIT_PARTS) this.addWithin(`${path}/${part}`, "readOnly");
    const config = this.#text(`${path}/config`);
    this.#addFile(`${path}/${GIT_LEAD}`);
    if (/worktreeconfig/i.test(config) || this.#stats(`${path}/${GIT_SECOND}`) !== undefined)
      this.#addFile(`${path}/${GIT_SECOND}`);
    for (const target of [...this.#hooksElsewhere(path), ...this.#namedIn(config, path)])
      this.addWithin(target, "readOnly");
  }

  /** Hooks that are links, by where they lead. */
  #hooksElsewhere(path: string): string[] {
    const hooks = `${path}/hooks`;
    const links = entriesOf(join(this.#request.rootDir, hooks)).filter((entry) => entry.isSymbolicLink());
    return links.flatMap(({ name }) => this.#inside(`${hooks}/${name}`) ?? []);
  }

  /** Where a `config` says that hooks, or more of itself, are. */
  #namedIn(config: string, path: string): string[] {
    const settings = [...config.matchAll(/^\s*(hookspath|path)\s*=\s*"?([^"\n]+?)"?\s*$/gim)];
    return settings.flatMap(([, name = "", target = ""]) => {
      const from = name.toLowerCase() === "path" ? path : dirname(path);
      return this.#inside(isAbsolute(target) ? target : join(from, target)) ?? [];
    });
  }

  /** Relative to the workspace, with no link in it; undefined where it is not in it. A file that is missing is where it is named. */
  #inside(path: string): string | undefined {
    const { rootDir } = this.#request;
    const named = resolve(rootDir, path);
    const found = relative(rootDir, realPath(named) ?? named);
    return found === "" || found === ".." || found.startsWith("../") ? undefined : found;
  }

  /** Closed as it is, or as a file that says nothing where there is none. */
  #addFile(path: string): void {
    const stats = this.#stats(path);
    if (stats?.isSymbolicLink()) throw isLink(path);
    if (stats === undefined) this.missing.push({ path, isFile: true });
    this.#add(path, "readOnly");
  }

  #text(path: string): string {
    try {
      return readFileSync(join(this.#request.rootDir, path), "utf8");
    } catch {
      return "";
    }
  }

  addWithin(path: string, kind: "readOnly" | "closed", refusal = isLink): void {
    for (const parent of parentsOf(path)) {
      const stats = this.#stats(parent);
      if (stats === undefined) {
        this.#close(parent);
        return;
      }
      if (stats.isSymbolicLink()) throw refusal(parent);
      this.#add(parent, "pin");
    }
    const stats = this.#stats(path);
    const isOurs = stats?.isDirectory() === true && this.#request.isPlaceholder(path);
    if (stats?.isSymbolicLink()) throw refusal(path);
    if (stats === undefined || isOurs) this.#close(path);
    else this.#add(path, kind === "closed" && !stats.isDirectory() ? "masked" : kind);
  }

  /** Only what is there: a mount where nothing is would make something. */
  addConnection(path: string): void {
    const stats = this.#stats(path);
    if (stats !== undefined && isConnection(stats)) this.mounts.set(path, { path, kind: "masked" });
  }

  /** Without those that would open again what one above them has closed, or have no place in it. */
  uncovered(): ControlMount[] {
    const isCovered = ({ path, kind }: ControlMount): boolean =>
      parentsOf(path).some((parent) => {
        const above = this.mounts.get(parent)?.kind;
        return above === "closed" || (above === "readOnly" && (kind === "pin" || kind === "readOnly"));
      });
    return [...this.mounts.values()].filter((mount) => !isCovered(mount));
  }

  /** The directory that a `.git` file names, if it lies in the workspace. */
  #named(path: string): string | undefined {
    const [, target] = /^gitdir: (.+?)\s*$/.exec(this.#text(path)) ?? [];
    return target === undefined
      ? undefined
      : this.#inside(resolve(this.#request.rootDir, dirname(path), target));
  }

  #close(path: string): void {
    if (this.mounts.has(path)) return;
    if (this.#stats(path) === undefined) this.missing.push({ path });
    this.mounts.set(path, { path, kind: "closed" });
  }

  #add(path: string, kind: ControlMount["kind"]): void {
    const known = this.mounts.get(path);
    if (known === undefined || (known.kind === "pin" && kind !== "pin"))
      this.mounts.set(path, { path, kind });
  }

  #stats(path: string): Stats | undefined {
    return lstatSync(join(this.#request.rootDir, path), { throwIfNoEntry: false });
  }
}

function isControlName(name: string): boolean {
  const lower = name.toLowerCase();
  return CONTROL_NAMES.directories.has(lower) || CONTROL_NAMES.files.has(lower);
}

/** `a`, `a/b` for `a/b/c`. */
function parentsOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

function namedLink(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: '${path}' is to be read-only or hidden and is a link. Name what it leads to in readOnly or hidden.`,
    "COMMAND_FAILED",
  );
}

function isLink(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: '${path}' steers other programs and is a link, which cannot be protected. Put what it leads to in its place, or set controlFiles to "allow".`,
    "COMMAND_FAILED",
  );
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
