/** Which changes a policy refuses. Paths are canonical. */
import { ConfigurationError } from "../../errors.ts";
import { canonicalPath, isWithin, parentPath } from "../../paths.ts";
import type { BackendProtocol, FileError, OperationOptions } from "../backend.ts";

/** Operations that change files, by the word a refusal begins with. */
export const CHANGES = {
  write: "Writes",
  append: "Writes",
  upload: "Writes",
  edit: "Edits",
  delete: "Deletes",
} as const;

export type ChangeOperation = keyof typeof CHANGES;

/** Directories without their slash, each once. */
export function checkedPrefixes(given: readonly string[] | null | undefined): readonly string[] {
  return (given ?? []).map((prefix) => {
    const { path, error } = canonicalPath(prefix);
    if (error === undefined) return path;
    throw new ConfigurationError("INVALID_OPTION", `denyPrefixes has a path that is none. ${error}`);
  });
}

/**
 * Why the change is refused. `names` are the path that was asked for and where links lead it. A directory that
 * holds a denied one cannot be deleted either.
 */
export async function deniedChange(
  backend: BackendProtocol,
  operation: ChangeOperation,
  names: Iterable<string>,
  prefixes: readonly string[],
  options?: OperationOptions,
): Promise<FileError | undefined> {
  for (const prefix of prefixes) {
    const places = [prefix, await realName(backend, prefix, options)];
    const hit = places.some((place) => [...names].some((name) => concerns(operation, name, place)));
    if (hit) return denied(operation, prefix);
  }
  return undefined;
}

export function denied(operation: ChangeOperation, prefix: string): FileError {
  return { error: `${CHANGES[operation]} are not allowed under ${prefix}`, code: "PERMISSION_DENIED" };
}

function concerns(operation: ChangeOperation, path: string, place: string): boolean {
  return isWithin(path, place) || (operation === "delete" && isWithin(place, path));
}

/**
 * Where links lead a path; itself where there are none. Where nothing is yet, the nearest directory above it
 * that leads somewhere decides.
 */
export async function realName(
  backend: BackendProtocol,
  path: string,
  options?: OperationOptions,
): Promise<string> {
  if (!backend.realPath) return path;
  let rest = "";
  for (let place = path; place !== "/"; place = parentPath(place)) {
    const real = await backend.realPath(place, options);
    if (typeof real === "string" && real !== place) return real === "/" ? rest || "/" : real + rest;
    rest = place.slice(place.lastIndexOf("/")) + rest;
  }
  return path;
}
