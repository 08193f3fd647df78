/** Where the SKILL.md files of a source are. */

import type { BackendProtocol, FileError, FileInfo } from "../backends/backend.ts";
import type { ChildFiles, ChildFilesRequest, WithChildFiles } from "../backends/child-files.ts";
import { asHarness } from "../backends/harness-call.ts";
import { CHILD_FILES } from "../internal-symbols.ts";
import { parentPath } from "../paths.ts";
import { type SkillWarning, warning } from "./skill-metadata.ts";

export const SKILL_FILE = "SKILL.md";
/** Enough for nearly every front matter. */
export const HEAD_BYTES = 4096;
/** As nearly all files write it; the others are given to their full length. */
const END_OF_FRONT_MATTER = "\n---\n";

/** A SKILL.md that is there, or may be there. */
export interface Candidate {
  readonly path: string;
  /** Bytes; undefined: not known. */
  readonly size?: number;
  /** Changes with the content; undefined: not known. */
  readonly stamp?: string;
  /** Milliseconds since 1970. */
  readonly modified?: number;
  readonly head?: string;
  /** Its directory was seen, and nothing else: if it is not there, that is no fault. */
  readonly isGuess?: boolean;
}

export interface Found {
  readonly candidates: readonly Candidate[];
  readonly warnings: readonly SkillWarning[];
}

export interface FindOptions {
  isKnown(stamp: string): boolean;
  readonly signal?: AbortSignal | undefined;
}

/** `source` is canonical: the directory of one skill, or a directory of such directories. */
export async function findSkillFiles(
  backend: BackendProtocol,
  source: string,
  options: FindOptions,
): Promise<Found> {
  const quick = (backend as WithChildFiles)[CHILD_FILES];
  if (quick === undefined) return search(backend, source, options);
  const { isKnown, signal } = options;
  const request: ChildFilesRequest = {
    name: SKILL_FILE,
    headBytes: HEAD_BYTES,
    headUntil: END_OF_FRONT_MATTER,
    isKnown,
    ...(signal && { signal }),
  };
  const found = await quick.call(backend, source, asHarness(request));
  return "error" in found ? unlisted(source, found) : fromChildFiles(found, source);
}

function fromChildFiles({ own, files, others }: ChildFiles, source: string): Found {
  if (own !== undefined) return { candidates: [own], warnings: [] };
  if (others.length === 0) return { candidates: files, warnings: [] };
  const guesses = others.map((directory) => guess(directory));
  const isOwnLink = others.length === 1 && others[0] === source;
  return { candidates: isOwnLink ? guesses : sorted([...files, ...guesses]), warnings: [] };
}

/** Two calls for any number of skills. Only the listing shows links and ignored directories. */
async function search(backend: BackendProtocol, source: string, { signal }: FindOptions): Promise<Found> {
  const options = asHarness(signal ? { signal } : {});
  const [listed, globbed] = await Promise.all([
    backend.ls(source, options),
    backend.glob(`*/${SKILL_FILE}`, source, options),
  ]);
  if (listed.error !== undefined) return unlisted(source, listed);
  const own = listed.files.find((file) => !file.is_dir && baseName(file.path) === SKILL_FILE);
  if (own !== undefined) return { candidates: [described(own)], warnings: [] };
  const files = (globbed.files ?? []).filter((file) => isChildOf(parentPath(file.path), source));
  const seen = new Set(files.map((file) => file.path));
  const guesses = listed.files
    // An entry without a size may be a link to another place.
    .filter((file) => file.is_dir || file.size === undefined)
    .map((file) => guess(file.path.replace(/\/$/, "")))
    .filter(({ path }) => !seen.has(path));
  return { candidates: sorted([...files.map(described), ...guesses]), warnings: [] };
}

function described({ path, size, modified_at: modifiedAt }: FileInfo): Candidate {
  if (size === undefined || modifiedAt === undefined) return { path, ...(size !== undefined && { size }) };
  const modified = Date.parse(modifiedAt);
  return { path, size, stamp: `${size}:${modifiedAt}`, ...(Number.isNaN(modified) ? {} : { modified }) };
}

function guess(directory: string): Candidate {
  return { path: directory === "/" ? `/${SKILL_FILE}` : `${directory}/${SKILL_FILE}`, isGuess: true };
}

function unlisted(source: string, { error, code }: FileError): Found {
  const isAbsent = code === "FILE_NOT_FOUND" || code === "NOT_A_DIRECTORY";
  const what = isAbsent ? "is no directory, so no skill was loaded from there" : `cannot be listed: ${error}`;
  return {
    candidates: [],
    warnings: [warning(isAbsent ? "SOURCE_NOT_FOUND" : "SOURCE_UNREADABLE", source, what)],
  };
}

function isChildOf(path: string, directory: string): boolean {
  return path !== directory && parentPath(path) === directory;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function sorted(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
