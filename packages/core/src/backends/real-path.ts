import { parentPath } from "../paths.ts";
import type { BackendProtocol, OperationOptions } from "./backend.ts";

/**
 * The path that links lead to; the path itself where there are none. For a path where nothing is yet, the nearest
 * directory above it decides.
 */
export async function followedPath(
  backend: BackendProtocol,
  path: string,
  options?: OperationOptions,
): Promise<string> {
  if (!backend.realPath) return path;
  let rest = "";
  for (let at = path; at !== "/"; at = parentPath(at)) {
    const real = await backend.realPath(at, options);
    if (typeof real === "string" && real !== at) return real === "/" ? rest || "/" : real + rest;
    rest = at.slice(at.lastIndexOf("/")) + rest;
  }
  return path;
}
