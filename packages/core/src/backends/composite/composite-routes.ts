/** Where paths lead when directories are mounted: whole segments, the longest mount wins. */
import { ConfigurationError } from "../../errors.ts";
import { canonicalPath, isWithin, parentPath } from "../../paths.ts";
import type { BackendProtocol, FileError, FileErrorCode, OperationOptions } from "../backend.ts";
import { openCheckInside } from "../open-check.ts";

/** A backend at a place. The default is mounted at `/`. */
export interface Mount {
  /** Canonical. */
  readonly prefix: string;
  /** The name of `prefix` inside the mount: `/`, unless the backend keeps whole paths. */
  readonly root: string;
  readonly backend: BackendProtocol;
}

/** The mounts, longest first, so that the first match is the right one. */
export function orderedRoutes<Source>(
  routes: Readonly<Record<string, Source>>,
): readonly (readonly [prefix: string, source: Source])[] {
  const known = new Map<string, Source>();
  for (const [given, source] of Object.entries(routes)) {
    const { path, error } = canonicalPath(given);
    if (error !== undefined || !given.startsWith("/"))
      throw invalid(`The route '${given}' must be an absolute path. ${error ?? ""}`.trim());
    if (path === "/") throw invalid("A route cannot be '/': that is the place of the default backend.");
    if (known.has(path)) throw invalid(`There are two routes for '${path}'.`);
    known.set(path, source);
  }
  return [...known].sort(([one], [other]) => other.length - one.length);
}

/** `mounts` end with the default, which takes all other paths. */
export function mountOf(mounts: readonly Mount[], path: string): Mount {
  return mounts.find(({ prefix }) => isWithin(path, prefix)) as Mount;
}

/** The mounts that lie strictly below `path`. */
export function mountsBelow(mounts: readonly Mount[], path: string): readonly Mount[] {
  return mounts.filter(({ prefix }) => prefix !== path && isWithin(prefix, path));
}

/** The path as the mounted backend knows it. */
export function innerPath({ prefix, root }: Mount, path: string): string {
  if (prefix === root) return path;
  return path.slice(prefix.length) || "/";
}

/** The path as everybody else knows it; a slash at the end stays. */
export function outerPath({ prefix, root }: Mount, path: string): string {
  if (prefix === root) return path;
  const absolute = path.startsWith("/") ? path : `/${path}`;
  return absolute === "/" ? prefix : `${prefix}${absolute}`;
}

/** Options for the mounted backend: a check in them is asked with the paths everybody else knows. */
export function innerOptions<Options extends OperationOptions>(
  mount: Mount,
  options: Options | undefined,
): Options | undefined {
  return openCheckInside(options, (path) => outerPath(mount, path));
}

/** Errors that quote text of the caller, which may look like a path. */
const WITHOUT_PATHS: readonly (FileErrorCode | undefined)[] = [
  "STRING_NOT_FOUND",
  "STRING_NOT_UNIQUE",
  "INVALID_PATTERN",
  "INVALID_ARGUMENT",
];

/** The same failure with full paths in its text: the path of the operation, and the directories above it. */
export function outerError<Failure extends FileError>(mount: Mount, path: string, failure: Failure): Failure {
  if (mount.prefix === mount.root || WITHOUT_PATHS.includes(failure.code)) return failure;
  const spellings: string[] = [];
  for (let inner = innerPath(mount, path); inner !== "/"; inner = parentPath(inner)) spellings.push(inner);
  let error = failure.error.replaceAll("'/'", `'${mount.prefix}'`);
  if (spellings.length > 0) {
    const any = spellings.map((spelling) => spelling.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    const place = new RegExp(`(?<![\\w./-])(?:${any})(?![\\w/-]|\\.\\w)`, "gu");
    error = error.replace(place, (spelling) => outerPath(mount, spelling));
  }
  return { ...failure, error };
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
