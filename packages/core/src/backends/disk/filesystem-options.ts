/** Reads and checks the options of a FilesystemBackend: null means absent, an unknown option is an error. */

import { resolve } from "node:path";
import { checkNames } from "../../check-options.ts";
import { checkDurations } from "../../duration.ts";
import { ConfigurationError } from "../../errors.ts";
import { canonicalPath } from "../../paths.ts";
import { lenientSpelling } from "./root/control-files.ts";
import type { OpenStrategy } from "./root/open-directory.ts";

export interface FilesystemBackendOptions {
  /** Default: the current directory. It is made by the first write where it does not exist. */
  readonly rootDir?: string | null;
  /** With true, `/` is `rootDir`. Otherwise paths are host paths, and relative ones start at `rootDir`. */
  readonly virtualMode?: boolean | null;
  /** Larger files are not searched. Default 10. */
  readonly maxFileSizeMb?: number | null;
  /** Larger files are not edited. Default 200. */
  readonly maxEditSizeMb?: number | null;
  /** A file is not made larger than that. Default: as large as the disk allows. */
  readonly maxWriteSizeMb?: number | null;
  /** Makes every path of the host reachable; not with `virtualMode`. */
  readonly allowOutsideRoot?: boolean | null;
  /** Searches leave out files that `.gitignore` names. Default true. */
  readonly respectGitignore?: boolean | null;
  /** Seconds a search may take. Default 10. */
  readonly searchTimeout?: number | null;
  /**
   * Asked before a file is changed that steers other programs, with its path as seen from the root. Only
   * `true` allows the change; else, and where this is absent, it is refused with code `APPROVAL_REQUIRED`.
   */
  readonly approve?: ((path: string) => boolean | Promise<boolean>) | null;
  /** More files that steer other programs, relative to `rootDir`; a directory stands for all in it. */
  readonly controlPaths?: readonly string[] | null;
  /** How directories are held open; default: the safest this system has. */
  readonly openStrategy?: OpenStrategy | null;
}

export interface FilesystemSettings {
  /** Absolute, as the host writes it. */
  readonly rootDir: string;
  readonly virtualMode: boolean;
  /** Canonical; where relative paths lie. */
  readonly workingDirectory: string;
  readonly maxFileSizeMb: number;
  readonly maxEditSizeMb: number;
  readonly maxWriteSizeMb: number | undefined;
  readonly allowOutsideRoot: boolean;
  readonly respectGitignore: boolean;
  readonly searchTimeout: number;
  readonly approve: ((path: string) => boolean | Promise<boolean>) | undefined;
  /** As seen from the root, in the spelling of `lenientSpelling`. */
  readonly controlPaths: readonly string[];
  readonly openStrategy: OpenStrategy | undefined;
}

const KINDS: Readonly<Record<keyof FilesystemBackendOptions, string>> = {
  rootDir: "string",
  virtualMode: "boolean",
  maxFileSizeMb: "number",
  maxEditSizeMb: "number",
  maxWriteSizeMb: "number",
  allowOutsideRoot: "boolean",
  respectGitignore: "boolean",
  searchTimeout: "seconds",
  approve: "function",
  controlPaths: "list of paths",
  openStrategy: "string",
};

/** The names of all options, for classes that have more. */
export const FILESYSTEM_OPTIONS: readonly string[] = Object.keys(KINDS);

export function filesystemSettings(
  options: FilesystemBackendOptions,
  platform: string = process.platform,
): FilesystemSettings {
  checkNames("FilesystemBackend", options, FILESYSTEM_OPTIONS);
  for (const [name, value] of Object.entries(options)) check(name, value);
  const virtualMode = options.virtualMode ?? false;
  const allowOutsideRoot = options.allowOutsideRoot ?? false;
  if (virtualMode && allowOutsideRoot)
    throw new ConfigurationError("INVALID_OPTION", "virtualMode and allowOutsideRoot exclude each other.", {
      hint: "With virtualMode every path lies in rootDir: leave out one of the two.",
    });
  const rootDir = resolve(options.rootDir ?? ".");
  return {
    rootDir,
    virtualMode,
    allowOutsideRoot,
    workingDirectory: virtualMode ? "/" : hostDirectory(rootDir, platform),
    maxFileSizeMb: options.maxFileSizeMb ?? 10,
    maxEditSizeMb: options.maxEditSizeMb ?? 200,
    maxWriteSizeMb: options.maxWriteSizeMb ?? undefined,
    respectGitignore: options.respectGitignore ?? true,
    searchTimeout: options.searchTimeout ?? 10,
    approve: options.approve ?? undefined,
    controlPaths: (options.controlPaths ?? []).map(controlPath),
    openStrategy: options.openStrategy ?? undefined,
  };
}

function check(name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  const kind = KINDS[name as keyof FilesystemBackendOptions];
  if (kind === "seconds") {
    checkDurations({ unit: "seconds", unlimited: true }, { [name]: value });
    return;
  }
  const usable =
    kind === "list of paths"
      ? Array.isArray(value) && value.every((path) => typeof path === "string")
      : kind === "number"
        ? typeof value === "number" && value > 0
        : typeof value === kind;
  if (!usable)
    throw new ConfigurationError(
      "INVALID_OPTION",
      `${name} must be a ${kind === "number" ? "positive number" : kind}, got ${JSON.stringify(value) ?? typeof value}.`,
    );
}

function controlPath(path: string): string {
  const canonical = canonicalPath(`/${path}`);
  if (canonical.error === undefined && canonical.path !== "/") return lenientSpelling(canonical.path);
  throw new ConfigurationError(
    "INVALID_OPTION",
    `controlPaths must be paths in rootDir, relative to it, got ${JSON.stringify(path)}.`,
  );
}

function hostDirectory(rootDir: string, platform: string): string {
  if (platform === "win32")
    throw new ConfigurationError("INVALID_OPTION", "On Windows FilesystemBackend needs virtualMode: true.", {
      hint: "Paths with drive letters are not canonical; with virtualMode / is rootDir.",
    });
  const canonical = canonicalPath(rootDir);
  if (canonical.error === undefined) return canonical.path;
  throw new ConfigurationError("INVALID_OPTION", `rootDir cannot be used: ${canonical.error}.`, {
    hint: "With virtualMode: true, / is rootDir.",
  });
}
