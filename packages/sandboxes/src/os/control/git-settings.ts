/** Reads from the settings of git on this machine where hooks are, and which other files are settings. */
import { readFileSync, type Stats, statSync } from "node:fs";
import { basename, isAbsolute, relative } from "node:path";
import { SandboxError } from "deepwright";
import type { NamedPath } from "./followed-path.ts";
import { type GitSetting, GitSyntaxError, readGitConfig } from "./git-config.ts";
import { isIn, type WorkspaceRoot } from "./workspace-root.ts";

export interface GitSettings {
  /** Directories of hooks, relative to wherever git runs one, or absolute. */
  readonly hooks: readonly string[];
  /** Further files that git reads, under any condition. */
  readonly included: readonly NamedPath[];
  /** Directories in which a repository keeps its files. */
  readonly worktrees: readonly string[];
}

/** Users of git on the workspace. */
export interface GitUsers {
  /** The first is ours. */
  readonly homes: readonly string[];
  readonly root: WorkspaceRoot;
}

/** Paths that git's settings files lead to. Throws for settings that cannot be read as git would read them. */
export function gitSettings(files: readonly string[], users: GitUsers): GitSettings {
  const reading = new Reading(users);
  for (const path of usersFiles(users)) reading.add(path, true);
  for (const path of files) reading.add(path, false);
  return reading;
}

/** Home of this process and, if we are root, of the workspace's owner. */
export function gitHomes(rootDir: string): string[] {
  const { uid } = statSync(rootDir);
  const owners =
    process.getuid?.() === 0 && uid !== 0 ? homesWhere((fields) => fields[2] === String(uid)) : [];
  return [...new Set([process.env.HOME ?? "", ...owners])].filter(isAbsolute);
}

/** Where the git of a system may look. */
const SYSTEM_FILES = ["/etc", "/usr/local/etc", "/opt/homebrew/etc", "/home/linuxbrew/.linuxbrew/etc"];

function usersFiles({ homes }: GitUsers): string[] {
  const { XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = process.env;
  const named = [GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME && `${XDG_CONFIG_HOME}/git/config`];
  return [
    ...SYSTEM_FILES.map((directory) => `${directory}/gitconfig`),
    ...named.filter((path) => path !== undefined && isAbsolute(path)),
    ...homes.flatMap((home) => [`${home}/.config/git/config`, `${home}/.gitconfig`]),
  ] as string[];
}

/** Limit of git itself. */
const MAX_INCLUDED = 10;
const MAX_BYTES = 1024 * 1024;
const INCLUDED = /^include(?:if\..*)?\.path$/s;

class Reading implements GitSettings {
  readonly hooks: string[] = [];
  readonly included: NamedPath[] = [];
  readonly worktrees: string[] = [];
  readonly #users: GitUsers;
  readonly #read = new Set<string>();

  constructor(users: GitUsers) {
    this.#users = users;
  }

  /** Git of a user does not read files that the user may not read. */
  add(path: string, mayBeClosed: boolean, depth = 0): void {
    if (this.#read.has(path)) return;
    this.#read.add(path);
    if (depth > MAX_INCLUDED) throw this.#unreadable(path, "too many files include each other");
    for (const { key, values } of this.#settings(path, mayBeClosed)) {
      if (key === "core.hookspath") this.hooks.push(...this.#paths(values, path));
      else if (key === "core.worktree") this.worktrees.push(...values);
      else if (INCLUDED.test(key)) this.#include(this.#paths(values, path), path, depth);
    }
  }

  #include(named: readonly string[], by: string, depth: number): void {
    const from = by.slice(0, by.lastIndexOf("/")) || "/";
    for (const path of named.filter((one) => one !== "")) {
      this.included.push({ from, path });
      this.add(isAbsolute(path) ? path : `${from}/${path}`, false, depth + 1);
    }
  }

  #settings(path: string, mayBeClosed: boolean): readonly GitSetting[] {
    try {
      const text = textOf(this.#users.root, path);
      return text === undefined ? [] : parsed(path, text);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (mayBeClosed && (code === "EACCES" || code === "EPERM")) return [];
      // A command may have written the name of this file, so errors must not show the content of files outside the
      // workspace.
      const isKnown = mayBeClosed || isIn(path, this.#users.root.path);
      const why = error instanceof GitSyntaxError ? error.message : (code ?? "not text");
      throw this.#unreadable(path, isKnown ? why : "it has no settings");
    }
  }

  /** `~` is the home of the user who runs git; newer versions also know prefixes of a path. */
  #paths(values: readonly string[], by: string): string[] {
    return values.flatMap((value) => {
      const path = value.startsWith(OPTIONAL) ? value.slice(OPTIONAL.length) : value;
      if (path.startsWith("%(prefix)/")) throw this.#unreadable(by, `'${path}' depends on where git is`);
      const [, name, rest = ""] = /^~([^/]*)(.*)$/s.exec(path) ?? [];
      if (name === undefined) return path === value ? [path] : [path, value];
      const homes = name === "" ? this.#users.homes : homesWhere(([user]) => user === name);
      if (homes.length === 0) throw this.#unreadable(by, `the user of '~${name}' is unknown`);
      return homes.map((home) => home + rest);
    });
  }

  /** The error does not show where the workspace or a home is. */
  #unreadable(path: string, why: string): SandboxError {
    const rootDir = this.#users.root.path;
    const name = isIn(path, rootDir) ? relative(rootDir, path) : basename(path);
    return new SandboxError(
      `The command was not run: the settings of git in '${name}' cannot be read (${why}), so the hooks they name cannot be protected. Correct the file, which \`git config --list\` has to accept, or set controlFiles to "allow".`,
      "COMMAND_FAILED",
    );
  }
}

const OPTIONAL = ":(optional)";

/** Undefined: git finds no settings there, as in a directory or a device. */
function textOf(root: WorkspaceRoot, path: string): string | undefined {
  const bytes = root.read(path, (stats: Stats) => {
    if (stats.isFIFO() || stats.isSocket()) throw new GitSyntaxError("it is no file");
    if (stats.isFile() && stats.size > MAX_BYTES)
      throw new GitSyntaxError(`it has more than ${MAX_BYTES} bytes`);
  });
  return bytes === undefined ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** Settings of the last files, so that nothing is parsed twice. */
const known = new Map<string, { readonly text: string; readonly settings: readonly GitSetting[] }>();
const MAX_KNOWN = 64;

function parsed(path: string, text: string): readonly GitSetting[] {
  const before = known.get(path);
  if (before?.text === text) return before.settings;
  const settings = readGitConfig(text);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(path, { text, settings });
  return settings;
}

/** Homes of users that the machine itself knows. */
function homesWhere(fits: (fields: readonly string[]) => boolean): string[] {
  let text = "";
  try {
    text = readFileSync("/etc/passwd", "utf8");
  } catch {
    // The user is unknown.
  }
  return text.split("\n").flatMap((line) => {
    const fields = line.split(":");
    return fits(fields) && fields[5] !== undefined && isAbsolute(fields[5]) ? [fields[5]] : [];
  });
}
