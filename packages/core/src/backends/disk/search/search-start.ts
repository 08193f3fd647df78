/** The start of a search on disk, and the ignore rules that apply there. */
import { parentPath } from "../../../paths.ts";
import { type IgnoreRules, IgnoreScope } from "../../../text/ignore-rules.ts";
import type { FileError } from "../../backend.ts";
import { asFileError, notFound, special } from "../file-errors.ts";
import type { ContainedRoot } from "../root/contained-root.ts";
import type { OpenDirectory } from "../root/open-directory.ts";
import { type PathRequest, resolveChecked } from "../root/resolve-checked.ts";
import { readIgnoreFile, type WalkOptions } from "./walk.ts";

export interface SearchRequest extends PathRequest {
  readonly pattern: string;
  readonly respectGitignore: boolean;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

export type GlobRequest = SearchRequest;

export interface GrepRequest extends SearchRequest {
  readonly glob?: string | null | undefined;
  readonly maxCount?: number | null | undefined;
  readonly maxFileSizeBytes: number;
}

/** The caller closes `directory`. */
export interface SearchStart {
  /** The directory to search, or the directory of `file`. */
  readonly directory: OpenDirectory;
  readonly file?: string;
  /** The path after links. */
  readonly realPath: string;
  /** The ignore files in the directories above, the outermost first. */
  readonly above: readonly AboveRules[];
}

export interface AboveRules {
  readonly path: string;
  readonly rules: IgnoreRules;
}

export async function openStart(request: SearchRequest): Promise<SearchStart | FileError> {
  const { root, path } = request;
  try {
    const place = await resolveChecked(request);
    if ("error" in place) return place;
    if (place.directory === undefined) return notFound(path);
    if (place.stats?.isFile())
      return { directory: place.directory, file: place.name, realPath: place.path, above: [] };
    try {
      if (place.stats === undefined) return notFound(path);
      if (!place.stats.isDirectory()) return special(path);
      const above = request.respectGitignore ? rulesAbove(root, place.path) : [];
      const directory = place.directory.child(place.name);
      return { directory, realPath: place.path, above };
    } finally {
      place.directory.close();
    }
  } catch (error) {
    return asFileError(error, path);
  }
}

function rulesAbove(root: ContainedRoot, path: string): AboveRules[] {
  const found: AboveRules[] = [];
  for (let at = path; at !== root.mountedAt && at !== "/"; ) {
    at = parentPath(at);
    const opened = root.openDirectory(at);
    if ("error" in opened) continue;
    // Where a link has taken its place, these are the rules of another directory.
    const rules = opened.path === at ? readIgnoreFile(opened.directory) : undefined;
    opened.directory.close();
    if (rules !== undefined) found.unshift({ path: at, rules });
  }
  return found;
}

/** Facts that a walk from there needs. */
export function startScope(
  request: SearchRequest,
  start: SearchStart,
): Pick<WalkOptions, "directory" | "path" | "realPath" | "scope" | "readIgnoreFiles"> {
  return {
    directory: start.directory,
    path: withSlash(request.path),
    realPath: withSlash(start.realPath),
    scope: start.above.reduce(
      (scope, { path, rules }) => scope.inside(withSlash(path), rules),
      IgnoreScope.none,
    ),
    readIgnoreFiles: request.respectGitignore,
  };
}

function withSlash(directory: string): string {
  return directory === "/" ? "/" : `${directory}/`;
}
