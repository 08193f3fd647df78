/**
 * Finds programs of the system by name. Entries of `PATH` that are relative, or that the agent can write to, are left
 * out, so that no program of a working directory is ever started outside the sandbox.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** Looked at after `PATH`. */
const USUAL = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

export interface FoundProgram {
  readonly path?: string;
  /** A program with this name that may not be run. */
  readonly unusable?: string;
}

/** `writable` are directories whose programs are not trusted; links count as their targets. */
export function findProgram(
  name: string,
  writable: readonly string[],
  searchPath: string = process.env.PATH ?? "",
): FoundProgram {
  const distrusted = writable
    .flatMap((directory) => [directory, realPath(directory)])
    .filter((path) => path !== undefined);
  let unusable: string | undefined;
  for (const directory of [...searchPath.split(delimiter), ...USUAL]) {
    if (!isAbsolute(directory)) continue;
    const path = join(directory, name);
    const real = realPath(path);
    if (real === undefined || [path, real].some((place) => distrusted.some((root) => liesIn(place, root))))
      continue;
    if (isProgram(real)) return { path: real };
    unusable ??= path;
  }
  return unusable === undefined ? {} : { unusable };
}

function liesIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
