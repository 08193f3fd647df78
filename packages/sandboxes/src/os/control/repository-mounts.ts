/**
 * Closes files of the repositories that a workspace has, lies in, or is led to: files that name programs git runs,
 * the hooks themselves included, wherever in the workspace git looks for them.
 */
import type { Stats } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { SandboxError } from "deepwright";
import { followPath, type NamedPath } from "./followed-path.ts";
import { gitSettings } from "./git-settings.ts";
import { isIn, type WorkspaceRoot } from "./workspace-root.ts";

/** Leads git to another repository's `config` and `hooks`, wherever it is. */
const GIT_LEAD = "commondir";
/** How a `.git` file begins that names a repository. */
const GIT_NAMED = "gitdir: ";
/** Systems take no longer path. */
const MAX_LEAD_BYTES = 4096;
/** Each name is looked up from the workspace down, so the cost grows with the square of their number. */
const MAX_NAMES = 128;
/** A second `config`, which git reads if the first one enables it. */
const GIT_SECOND = "config.worktree";
/** The parts of a repository that name programs for git. `git commit` needs to write the rest. */
const GIT_PARTS = ["hooks", "config", "modules", "worktrees", GIT_LEAD, GIT_SECOND];

/** Shuts paths that are relative to the workspace. */
export interface Closing {
  /** With all directories above it, which keep their names. */
  addWithin(path: string, kind: "readOnly"): void;
  /** Keeps the name, and the directories above it. */
  pin(path: string): void;
  readOnly(path: string): void;
}

export class Repositories {
  readonly #root: WorkspaceRoot;
  readonly #homes: readonly string[];
  readonly #closing: Closing;
  /** Repositories by where git runs their hooks. */
  readonly #known = new Set<string>();

  constructor(root: WorkspaceRoot, homes: readonly string[], closing: Closing) {
    this.#root = root;
    this.#homes = homes;
    this.#closing = closing;
  }

  /** `path` is a `.git` in the workspace: a directory, or a file that names one. `worktree` is where git runs hooks. */
  add(path: string, worktree = join(this.#root.path, dirname(path))): void {
    const at = join(this.#root.path, path);
    const stats = this.#root.stats(at);
    const known = `${path}\0${worktree}`;
    if (stats === undefined || this.#known.has(known)) return;
    this.#known.add(known);
    if (dirname(path) !== ".") this.#closing.pin(dirname(path));
    if (stats.isSymbolicLink()) throw isLink(path);
    if (!stats.isDirectory()) {
      this.#closing.readOnly(path);
      this.#addNamed(at, worktree);
      return;
    }
    this.#closing.pin(path);
    for (const part of GIT_PARTS) this.#closing.addWithin(`${path}/${part}`, "readOnly");
    this.#addLeads(at, worktree);
  }

  /** Adds the repositories that contain the workspace. */
  addAbove(): void {
    for (let directory = this.#root.path; directory !== "/"; ) {
      directory = dirname(directory);
      const at = join(directory, ".git");
      const stats = this.#root.stats(at);
      if (stats === undefined) continue;
      if (stats.isFile()) this.#addNamed(at, directory);
      else this.#addLeads(at, directory);
    }
  }

  /** The directory that a `.git` file names. */
  #addNamed(file: string, worktree: string): void {
    const text = this.#text(file);
    if (!text.startsWith(GIT_NAMED) || text.length === GIT_NAMED.length) return;
    const end = this.#end({ from: dirname(file), path: text.slice(GIT_NAMED.length) });
    const inside = this.#inside(end);
    if (inside === undefined) this.#addLeads(end, worktree);
    else if (this.#root.stats(end) === undefined) this.#closing.addWithin(inside, "readOnly");
    else this.add(inside, worktree);
  }

  /** Closes the paths that a repository's settings name. */
  #addLeads(repository: string, worktree: string): void {
    const shared = this.#shared(repository, worktree);
    const files = [join(shared, "config"), ...[shared, repository].map((at) => join(at, GIT_SECOND))];
    const settings = gitSettings(files, { homes: this.#homes, root: this.#root });
    for (const file of settings.included) this.#addNamedFile(file);
    const worktrees = settings.worktrees.map((path) => this.#end({ from: repository, path }));
    for (const path of worktrees) {
      const inside = this.#inside(path);
      if (inside !== undefined && this.#root.stats(path)?.isDirectory()) this.#closing.pin(inside);
    }
    this.#addHookLinks(join(shared, "hooks"));
    // A hook that a push runs is run in the repository itself.
    for (const from of new Set([worktree, ...worktrees, repository, shared]))
      for (const path of new Set(settings.hooks)) this.#addHooks({ from, path });
  }

  /** Directory that a further working tree shares with others. */
  #shared(repository: string, worktree: string): string {
    const path = this.#text(join(repository, GIT_LEAD));
    if (path === "" || path === ".") return repository;
    const shared = this.#end({ from: repository, path });
    const inside = this.#inside(shared);
    if (inside !== undefined) this.add(inside, worktree);
    return shared;
  }

  #addHooks(named: NamedPath): void {
    // Git takes none for the root of the machine.
    if (named.path === "") return;
    const end = this.#end(named);
    if (end === this.#root.path) throw isAll(named.path);
    const inside = this.#inside(end);
    if (inside !== undefined) this.#closing.addWithin(inside, "readOnly");
    this.#addHookLinks(end);
  }

  /** Hooks that are links, by where they lead. */
  #addHookLinks(hooks: string): void {
    for (const entry of this.#root.entries(hooks)) {
      if (!entry.isSymbolicLink()) continue;
      const path = join(hooks, entry.name);
      const end = followPath(this.#root, { from: hooks, path: entry.name }, path);
      if (end === undefined) throw passesLinks(entry.name);
      const inside = this.#inside(end);
      if (inside !== undefined) this.#closing.addWithin(inside, "readOnly");
    }
  }

  #addNamedFile(named: NamedPath): void {
    const inside = this.#inside(this.#end(named));
    if (inside !== undefined) this.#closing.addWithin(inside, "readOnly");
  }

  #end(named: NamedPath): string {
    if (named.path.length > MAX_LEAD_BYTES || named.path.split("/", MAX_NAMES + 1).length > MAX_NAMES)
      throw isTooLong(`${named.path.slice(0, 60)}…`);
    const end = followPath(this.#root, named);
    if (end === undefined) throw passesLinks(isAbsolute(named.path) ? "an absolute path" : named.path);
    return end;
  }

  /** The text of a file that names another, without the ends of lines behind it; `""` where it cannot be read. */
  #text(path: string): string {
    const check = (stats: Stats): void => {
      if (stats.isFile() && stats.size > MAX_LEAD_BYTES)
        throw isTooLong(this.#inside(path) ?? basename(path));
    };
    try {
      return withoutLineEnds(this.#root.read(path, check)?.toString("utf8") ?? "");
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      return "";
    }
  }

  /** Relative to the workspace; undefined where it is not in it. */
  #inside(path: string): string | undefined {
    return isIn(path, this.#root.path) ? relative(this.#root.path, path) : undefined;
  }
}

/** A regular expression would take quadratic time for many lines. */
function withoutLineEnds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
  return text.slice(0, end);
}

function isTooLong(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: '${path}' leads git to another place by a path of more than ${MAX_LEAD_BYTES} bytes or ${MAX_NAMES} names, which is not followed. Shorten or remove it, or set controlFiles to "allow".`,
    "COMMAND_FAILED",
  );
}

export function isLink(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: '${path}' steers other programs and is a link, which cannot be protected. Replace the link by its target, or set controlFiles to "allow".`,
    "COMMAND_FAILED",
  );
}

function passesLinks(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: git is led to '${path}' for hooks or settings, past links in the workspace that a command could replace. Name where they lead without links or '..' in the middle, or set controlFiles to "allow".`,
    "COMMAND_FAILED",
  );
}

function isAll(path: string): SandboxError {
  return new SandboxError(
    `The command was not run: core.hooksPath of git is '${path}', which is the whole workspace and cannot be protected. Give hooks a directory of their own, or set controlFiles to "allow".`,
    "COMMAND_FAILED",
  );
}
