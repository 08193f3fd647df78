/**
 * Finds programs of the system by name, and only those: an entry of `PATH` that is relative, or that lies where the
 * agent can write, is left out, so that nothing from a working directory is ever started outside the sandbox.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** Looked at after `PATH`. */
const USUAL = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

export interface FoundProgram {
  readonly path?: string;
  /** One that has the name but may not be run. */
  readonly unusable?: string;
}

/** `writable` are directories whose programs are not to be trusted; their links count as where they lead. */
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
