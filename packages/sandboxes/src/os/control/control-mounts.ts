/**
 * Closes control files for commands: existing ones are mounted read-only, and missing ones are watched.
 *
 * This covers the names at the top of the workspace, and the repositories and other control files that were found below
 * when the sandbox was opened. Other names below the top are not watched.
 */
import type { Stats } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "deepwright";
import { endOfLink } from "./control-links.ts";
import { type Closing, isLink, Repositories } from "./repository-mounts.ts";
import type { WorkspaceRoot } from "./workspace-root.ts";
import { isConnection, isControlName } from "./workspace-search.ts";

export interface ControlMounts {
  /** Paths relative to the workspace, in the order in which they are mounted. */
  readonly mounts: readonly ControlMount[];
  /** Paths where nothing is, and nothing may be when the command has ended. Control names at the top come in addition. */
  readonly absent: readonly string[];
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

/** For two mounts of the same path the stricter one counts. */
const STRICTNESS: Readonly<Record<ControlMount["kind"], number>> = {
  pin: 0,
  readOnly: 1,
  closed: 2,
  masked: 2,
};

export interface ControlRequest {
  readonly root: WorkspaceRoot;
  readonly repositories: readonly string[];
  /** Other control files, below the top. */
  readonly controls: readonly string[];
  /** Home directories of users that use git here and may have settings for all repositories. */
  readonly homes: readonly string[];
  /** Sockets and pipes, behind which are programs of this machine. */
  readonly connections: readonly string[];
  readonly readOnly: readonly string[];
  readonly hidden: readonly string[];
  readonly protectsControlFiles: boolean;
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
  return { mounts: found.uncovered(), absent: [...found.absent], links: found.links };
}

class Found implements Closing {
  readonly mounts = new Map<string, ControlMount>();
  readonly absent = new Set<string>();
  readonly links: string[] = [];
  readonly #request: ControlRequest;
  readonly #repositories: Repositories;

  constructor(request: ControlRequest) {
    this.#request = request;
    this.#repositories = new Repositories(request.root, request.homes, this);
  }

  addTop(): void {
    const { root } = this.#request;
    for (const entry of root.entries(root.path)) {
      const { name } = entry;
      if (!isControlName(name)) continue;
      if (name.toLowerCase() === ".git") this.#repositories.add(name);
      else if (entry.isSymbolicLink()) this.#addLink(name);
      else this.#add(name, "readOnly");
    }
  }

  /** The target of the link is closed. A link of a repository is refused, as git may obey it at any moment. */
  #addLink(path: string): void {
    const end = endOfLink(this.#request.root, path);
    if (end === undefined) throw isLink(path);
    this.links.push(path);
    if (end.inside !== undefined) this.addWithin(end.inside, "readOnly");
  }

  addRepositories(): void {
    for (const repository of this.#request.repositories) this.#repositories.add(repository);
    this.#repositories.addAbove();
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
      if (stats === undefined) break;
      if (stats.isSymbolicLink()) throw refusal(parent);
      this.#add(parent, "pin");
    }
    const stats = this.#stats(path);
    if (stats?.isSymbolicLink()) throw refusal(path);
    if (stats !== undefined) this.#add(path, kind === "closed" && !stats.isDirectory() ? "masked" : kind);
    // A command that creates a file in a hidden directory knows its content already.
    else if (kind === "readOnly") this.absent.add(path);
  }

  /** Adds the path if it still exists without a link above it: such a link may have been made by anyone since. */
  addThere(path: string): void {
    const [own, ...above] = [path, ...parentsOf(path)].map((one) => this.#stats(one));
    if (!(own?.isFile() || own?.isDirectory()) || !above.every((stats) => stats?.isDirectory())) return;
    this.addWithin(path, "readOnly");
  }

  /** Adds existing paths only: a mount on a missing path would create it. */
  addConnection(path: string): void {
    const stats = this.#stats(path);
    if (stats !== undefined && isConnection(stats)) this.mounts.set(path, { path, kind: "masked" });
  }

  /** The mounts without those that would reopen a path below a closed one, or cannot be made there. */
  uncovered(): ControlMount[] {
    const isCovered = ({ path, kind }: ControlMount): boolean =>
      parentsOf(path).some((parent) => {
        const above = this.mounts.get(parent)?.kind;
        return above === "closed" || (above === "readOnly" && (kind === "pin" || kind === "readOnly"));
      });
    return [...this.mounts.values()].filter((mount) => !isCovered(mount));
  }

  #add(path: string, kind: ControlMount["kind"]): void {
    const known = this.mounts.get(path)?.kind;
    if (known === undefined || STRICTNESS[kind] > STRICTNESS[known]) this.mounts.set(path, { path, kind });
  }

  #stats(path: string): Stats | undefined {
    return this.#request.root.stats(join(this.#request.root.path, path));
  }
}

/** `a`, `a/b` for `a/b/c`. */
function parentsOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

function namedLink(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: '${path}' is named in readOnly or hidden, but is a link. Name its target instead.`,
    "COMMAND_FAILED",
  );
}
