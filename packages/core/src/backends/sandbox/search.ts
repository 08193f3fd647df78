/**
 * Searching the files of a sandbox: one walk where they lie, the rest here.
 *
 * What a search finds is the same as on every other backend, so its rules are applied here: globs, ignore
 * files, what a line is. The sandbox only narrows it down, to the files that hold a part of the pattern, where
 * it has a tool for that.
 */
import { isWithin, parentPath } from "../../paths.ts";
import { findLines, invalidPattern, matchLimit } from "../../text/find-lines.ts";
import { compileGlob, type Glob } from "../../text/glob-match.ts";
import { literalDirectory } from "../../text/glob-prune.ts";
import { IgnoreScope, parseIgnoreFile } from "../../text/ignore-rules.ts";
import { type TextFinder, textFinder } from "../../text/linear-search.ts";
import type {
  FileErrorCode,
  GlobResult,
  GrepMatch,
  GrepResult,
  OperationOptions,
  SkippedFile,
} from "../backend.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { decodeBytes } from "../disk/text-codec.ts";
import { type Entry, infoOf, type Tree, treeOf } from "./listing.ts";
import { failureOf } from "./refusal.ts";
import { type AskOptions, OutOfTime, type ScriptRunner } from "./script-runner.ts";
import { searchHint } from "./search-hint.ts";
import { LIST, WALK } from "./walk-scripts.ts";

/** Bytes of a file that is searched; larger ones are reported as skipped. */
export const MAX_SEARCHED_BYTES = 10 * 1024 * 1024;
/** Files and bytes downloaded at once: nearly always all of them, which hold what is looked for. */
const BATCH_FILES = 8192;
const BATCH_BYTES = 64 * 1024 * 1024;
/** Of a search with a limit: what the sandbox finds may be a part of the pattern only. */
const FEWEST_FILES = 64;
/** What a file counts whose size is not known. */
const USUAL_BYTES = 64 * 1024;
const EVERYTHING = Buffer.alloc(0);

export interface SearchOptions extends AskOptions {
  /** Whether `.gitignore` files count. */
  readonly ignoreFiles: boolean;
}

export async function globFiles(
  runner: ScriptRunner,
  pattern: string,
  options: SearchOptions,
): Promise<GlobResult> {
  const { path } = options;
  const glob = compileGlob(pattern, path);
  if (glob.error !== undefined) return glob;
  const named = literalDirectory(pattern, path);
  const entered = isWithin(named, path) ? named : path;
  try {
    const tree = await walk(runner, entered, EVERYTHING, options);
    const isSearched = fileFilter(tree, entered, glob, options);
    const files = tree.files.filter((file) => isSearched(file.path)).map(infoOf);
    return withSkipped({ files }, tree.skipped);
  } catch (error) {
    if (error instanceof OutOfTime) return { files: [], truncated: true, timedOut: true };
    if (entered === path || !(error instanceof FileFailure)) throw error;
    await runner.demand(LIST, [path], options);
    return { files: [] };
  }
}

export interface GrepRequest {
  readonly pattern: string;
  readonly glob: string | null | undefined;
  readonly maxCount: number | null | undefined;
}

export async function grepFiles(
  runner: ScriptRunner,
  request: GrepRequest,
  options: SearchOptions,
): Promise<GrepResult> {
  const invalid = invalidPattern(request.pattern) ?? whyNoGlob(request.glob, options.path);
  if (invalid !== undefined) return invalid;
  const end = performance.now() + options.timeout * 1000;
  const search = new Search(request);
  try {
    const tree = await walk(runner, options.path, searchHint(request.pattern), options, true);
    if (tree.isAlone) return await searchFiles(runner, search, tree, alone(tree, request), end, options);
    const glob = globOf(request.glob, options.path);
    const isSearched = fileFilter(tree, options.path, glob, options);
    search.skipped.push(...tree.skipped.filter(({ path, code }) => code !== "TOO_LARGE" || isSearched(path)));
    const files = tree.files.filter((file) => isSearched(file.path));
    return await searchFiles(runner, search, tree, files, end, options);
  } catch (error) {
    if (error instanceof OutOfTime) return search.result({ truncated: true, timedOut: true });
    if (error instanceof FileFailure && error.result.code === "NOT_A_DIRECTORY")
      throw failureOf("SPECIAL_FILE", options.path);
    throw error;
  }
}

/** A file given as the path is searched whatever ignore files say. */
function alone({ files }: Tree, { glob }: GrepRequest): Entry[] {
  return files.filter(({ path }) => globOf(glob, parentPath(path)).matches?.(path) !== false);
}

async function searchFiles(
  runner: ScriptRunner,
  search: Search,
  { contents: known, searched }: Tree,
  files: readonly Entry[],
  end: number,
  options: SearchOptions,
): Promise<GrepResult> {
  const { signal } = options;
  const searchable = files.filter(
    ({ path, size = 0 }) => size <= MAX_SEARCHED_BYTES || !search.skip(path, "TOO_LARGE"),
  );
  for (let start = 0; start < searchable.length; ) {
    if (performance.now() > end) return search.result({ truncated: true, timedOut: true });
    const batch = batchFrom(searchable, start, searched ? search.missing : BATCH_FILES);
    start += batch.length;
    const contents = await contentsOf(runner, batch, known, signal ? { signal } : {});
    for (const path of batch) {
      const content = contents.get(path) as Buffer | FileErrorCode;
      const goesOn = typeof content === "string" ? search.skip(path, content) : search.add(path, content);
      if (!goesOn) return search.result({ truncated: true });
    }
  }
  return search.result({});
}

/** Those that came with the walk need not be fetched. */
async function contentsOf(
  runner: ScriptRunner,
  paths: readonly string[],
  known: Tree["contents"],
  options: OperationOptions,
): Promise<ReadonlyMap<string, Buffer | FileErrorCode>> {
  const asked = paths.filter((path) => !known.has(path));
  if (asked.length === 0) return known;
  const answers = await runner.downloadAll(asked, options);
  return new Map([...known, ...asked.map((path, index) => [path, answers[index] as Buffer] as const)]);
}

/** What was found so far. */
class Search {
  readonly matches: GrepMatch[] = [];
  readonly skipped: SkippedFile[] = [];
  readonly #find: TextFinder;
  readonly #limit: number;

  constructor({ pattern, maxCount }: GrepRequest) {
    this.#find = textFinder(pattern);
    this.#limit = matchLimit(maxCount);
  }

  /** False when there are more matches than asked for. */
  add(path: string, bytes: Buffer): boolean {
    const text = decodeBytes(bytes)?.text;
    return text === undefined || findLines(this.matches, path, text, this.#find, this.#limit);
  }

  /** Files that hold a match each, of which there are enough to know that there are too many. */
  get missing(): number {
    return Math.max(this.#limit + 1 - this.matches.length, FEWEST_FILES);
  }

  /** A file that is gone by now is no news. */
  skip(path: string, code: FileErrorCode): true {
    if (code !== "FILE_NOT_FOUND") this.skipped.push({ path, code });
    return true;
  }

  result(flags: { readonly truncated?: boolean; readonly timedOut?: boolean }): GrepResult {
    return withSkipped({ matches: this.matches, ...flags }, this.skipped);
  }
}

async function walk(
  runner: ScriptRunner,
  path: string,
  hint: Buffer,
  options: SearchOptions,
  mayBeFile = false,
): Promise<Tree> {
  const values = [path, hint, MAX_SEARCHED_BYTES, mayBeFile ? "yes" : ""];
  const reply = await runner.ask(WALK, values, options);
  if (reply.kind === "E") throw failureOf(reply.bytes.toString("utf8"), path);
  return treeOf(reply);
}

/** Whether a file below `start` is to be searched: it fits the glob, and nothing from `start` down is ignored. */
function fileFilter(
  tree: Tree,
  start: string,
  glob: Glob,
  { ignoreFiles }: SearchOptions,
): (path: string) => boolean {
  const scopes = new Map<string, IgnoreScope | undefined>();
  const scopeOf = (directory: string): IgnoreScope | undefined => {
    if (!scopes.has(directory)) scopes.set(directory, scopeIn(directory));
    return scopes.get(directory);
  };
  const scopeIn = (directory: string): IgnoreScope | undefined => {
    const outer = directory === "/" ? IgnoreScope.none : scopeOf(parentPath(directory));
    if (outer === undefined) return undefined;
    if (!isWithin(start, directory) && outer.ignores(directory, nameOf(directory), true)) return undefined;
    const rules = ignoreFiles ? tree.ignoreFiles.get(directory) : undefined;
    const prefix = directory === "/" ? "/" : `${directory}/`;
    return rules === undefined ? outer : outer.inside(prefix, parseIgnoreFile(rules));
  };
  return (path) =>
    glob.matches?.(path) === true && scopeOf(parentPath(path))?.ignores(path, nameOf(path), false) === false;
}

function globOf(glob: string | null | undefined, base: string): Glob {
  return glob ? compileGlob(glob, base) : { matches: () => true };
}

function whyNoGlob(
  glob: string | null | undefined,
  base: string,
): Extract<Glob, { error: string }> | undefined {
  const compiled = globOf(glob, base);
  return compiled.error === undefined ? undefined : compiled;
}

function batchFrom(files: readonly Entry[], start: number, most: number): string[] {
  const paths: string[] = [];
  let bytes = 0;
  for (const { path, size = USUAL_BYTES } of files.slice(start, start + Math.min(most, BATCH_FILES))) {
    bytes += size;
    if (paths.length > 0 && bytes > BATCH_BYTES) break;
    paths.push(path);
  }
  return paths;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function withSkipped<Result extends object>(result: Result, skipped: SkippedFile[]): Result {
  return skipped.length === 0 ? result : { ...result, skipped };
}
