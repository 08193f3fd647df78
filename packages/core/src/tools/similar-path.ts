/** Suggests a path for a file that is not there: a model often remembers a name nearly right. */
import type { FileError, FileInfo } from "../backends/backend.ts";
import { showPath } from "../paths.ts";
import { editDistance } from "../text/edit-distance.ts";
import type { FileCall } from "./file-tool.ts";

const MOST_ENTRIES = 2_000;
const MOST_SUGGESTIONS = 3;
const LONGEST_NAME = 80;

/** The failure with a suggestion, if one is found. Costs a listing, and a search by name where that has none; only after a failure. */
export async function withSimilarPath(failure: FileError, path: string, call: FileCall): Promise<FileError> {
  if (failure.code !== "FILE_NOT_FOUND" || !path.startsWith("/")) return failure;
  const found = (await siblings(path, call)) ?? (await namesakes(path, call));
  if (found.length === 0) return failure;
  const named = found.slice(0, MOST_SUGGESTIONS).map((each) => `'${showPath(each)}'`);
  return { ...failure, error: `${failure.error}. Did you mean ${named.join(" or ")}?` };
}

/** The file of the same directory with the most similar name; undefined without one. */
async function siblings(path: string, { backend, signal }: FileCall): Promise<string[] | undefined> {
  const listed = await backend.ls(path.slice(0, path.lastIndexOf("/")) || "/", { signal });
  if (listed.error !== undefined) return undefined;
  const name = nameOf(path);
  const scored = filesOf(listed.files)
    .slice(0, MOST_ENTRIES)
    .map((other) => ({ other, score: difference(name, nameOf(other)) }))
    .filter(({ score }) => score <= tolerance(name))
    .sort((one, two) => one.score - two.score);
  return scored.length === 0 ? undefined : scored.map(({ other }) => other);
}

/** Files of the same name in other directories; none when there are too many to guess. */
async function namesakes(path: string, { backend, signal }: FileCall): Promise<string[]> {
  const name = nameOf(path);
  if (/[*?[\]{}!\\]/.test(name)) return [];
  const found = await backend.glob(`**/${name}`, backend.workingDirectory ?? "/", { signal });
  if (found.error !== undefined) return [];
  const others = filesOf(found.files).filter((other) => other !== path);
  return others.length <= MOST_SUGGESTIONS ? others : [];
}

function filesOf(files: readonly FileInfo[]): string[] {
  return files.filter(({ is_dir: isDirectory }) => !isDirectory).map(({ path }) => path);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Letters that may differ. */
function tolerance(name: string): number {
  return name.length > 6 ? 2 : 1;
}

/** Letters that differ; 0 for the same word in other letters, or with another ending. */
function difference(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (a === b || (stem(a) === stem(b) && stem(a).length > 2)) return 0;
  if (Math.abs(a.length - b.length) > 2 || a.length > LONGEST_NAME) return Number.POSITIVE_INFINITY;
  return editDistance(a, b);
}

function stem(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}
