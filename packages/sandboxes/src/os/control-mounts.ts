/**
 * How the files that steer other programs are shut for commands: what is there is seen read-only, and where nothing is
 * there yet lies an empty directory that cannot be written, moved or removed.
 *
 * This holds for the names at the top of the workspace, and for the repositories and other files of the kind that were
 * found below when the sandbox was opened. What a command makes anew below the top is not looked at.
 */
import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { CONTROL_NAMES, SandboxError } from "deepwright";
import { endOfLink } from "./control-links.ts";
import type { Missing } from "./placeholders.ts";
import { type Closing, isLink, Repositories } from "./repository-mounts.ts";
import { isConnection } from "./workspace-search.ts";

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

/** Those that mean something on the disks of Linux. */
const CLOSED_NAMES = [...CONTROL_NAMES.directories, ...CONTROL_NAMES.files].filter(
  (name) => !name.includes("~"),
);

export interface ControlRequest {
  /** A real path. */
  readonly rootDir: string;
  readonly repositories: readonly string[];
  /** Below the top, what else steers programs. */
  readonly controls: readonly string[];
  /** Of whoever uses git here, and may have settings for all repositories. */
  readonly homes: readonly string[];
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
    found.addRepositories();
    for (const path of request.controls) found.addThere(path);
  }
  for (const path of request.readOnly) found.addWithin(path, "readOnly", namedLink);
  for (const path of request.hidden) found.addWithin(path, "closed", namedLink);
  for (const path of request.connections) found.addConnection(path);
  const mounts = found.uncovered();
  const mounted = new Set(mounts.map(({ path }) => path));
  const missing = found.missing.filter(({ path }) => mounted.has(path));
  return { mounts, missing, links: found.links };
}

class Found implements Closing {
  readonly mounts = new Map<string, ControlMount>();
  readonly missing: Missing[] = [];
  readonly links: string[] = [];
  readonly #request: ControlRequest;
  readonly #repositories: Repositories;

  constructor(request: ControlRequest) {
    this.#request = request;
    this.#repositories = new Repositories(request.rootDir, request.homes, this);
  }

  addTop(): void {
    const present = new Map<string, Dirent>();
    for (const entry of readdirSync(this.#request.rootDir, { withFileTypes: true }))
      if (isControlName(entry.name)) present.set(entry.name, entry);
    for (const name of CLOSED_NAMES) if (!present.has(name)) this.#close(name, false);
    for (const [name, entry] of present) {
      if (entry.isDirectory() && this.#request.isPlaceholder(name)) this.#close(name, true);
      else if (name.toLowerCase() === ".git") this.#repositories.add(name);
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

  addRepositories(): void {
    for (const repository of this.#request.repositories) this.#repositories.add(repository);
    this.#repositories.addAbove();
  }

  addFile(path: string): void {
    const stats = this.#stats(path);
    if (stats?.isSymbolicLink()) throw isLink(path);
    if (stats === undefined) this.missing.push({ path, isFile: true });
    this.#add(path, "readOnly");
  }

  pin(path: string): void {
    for (const one of [...parentsOf(path), path]) this.#add(one, "pin");
  }

  readOnly(path: string): void {
    this.#add(path, "readOnly");
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

  /** Where it still is, with no link above it: one could be anybody's since it was found. */
  addThere(path: string): void {
    const [own, ...above] = [path, ...parentsOf(path)].map((one) => this.#stats(one));
    if (!(own?.isFile() || own?.isDirectory()) || !above.every((stats) => stats?.isDirectory())) return;
    this.addWithin(path, "readOnly");
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

  #close(path: string, isThere = this.#stats(path) !== undefined): void {
    if (this.mounts.has(path)) return;
    if (!isThere) this.missing.push({ path });
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
