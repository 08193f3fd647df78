/**
 * Searches the files of a sandbox. A command lists files, or finds those with a part of the pattern. The rules of every
 * backend are applied here: globs, ignore files, the definition of a line.
 */
import { isWithin, parentPath } from "../../paths.ts";
import { findLines, invalidPattern, matchLimit } from "../../text/find-lines.ts";
import { compileGlob, type Glob } from "../../text/glob/glob-match.ts";
import { literalDirectory } from "../../text/glob/glob-prune.ts";
import { IgnoreScope, parseIgnoreFile } from "../../text/ignore-rules.ts";
import { type TextFinder, textFinder } from "../../text/linear-search.ts";
import type { FileErrorCode, GlobResult, GrepMatch, GrepResult, SkippedFile } from "../backend.ts";
import { decodeBytes } from "../disk/encoding/text-codec.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { type Entry, infoOf, spelledAs, type Tree, treeOf, withSkipped } from "./listing.ts";
import { failureOf } from "./refusal.ts";
import { OutOfTime, type ScriptRunner } from "./script-runner.ts";
import { CONTENT } from "./scripts.ts";
import { searchHint } from "./search-hint.ts";
import type { Ask, Transfers } from "./transfers.ts";
import { LIST, WALK } from "./walk-scripts.ts";

/** Most bytes of a searched file; larger ones are reported as skipped. */
export const MAX_SEARCHED_BYTES = 10 * 1024 * 1024;
/** Files and bytes downloaded at once. */
const BATCH_FILES = 8192;
const BATCH_BYTES = 64 * 1024 * 1024;
/** Files of a batch of a search with a limit: the sandbox may have looked for a part of the pattern only. */
const FEWEST_FILES = 64;

interface GlobRequest {
  readonly pattern: string;
  /** Whether `.gitignore` files count. */
  readonly ignoreFiles: boolean;
}

export async function globFiles(runner: ScriptRunner, request: GlobRequest, ask: Ask): Promise<GlobResult> {
  const { path } = ask;
  const glob = compileGlob(request.pattern, path);
  if (glob.error !== undefined) return glob;
  const named = literalDirectory(request.pattern, path);
  const entered = isWithin(named, path) ? named : path;
  try {
    const tree = await walk(runner, entered, Buffer.alloc(0), ask);
    const isSearched = fileFilter(tree, entered, glob, request);
    const files = tree.files.filter((file) => isSearched(file.path)).map((file) => infoOf(file, ask));
    return withSkipped({ files }, tree.skipped, ask);
  } catch (error) {
    if (error instanceof OutOfTime) return { files: [], truncated: true, timedOut: true };
    if (entered === path || !(error instanceof FileFailure)) throw error;
    await runner.ask(LIST, [ask.operand], ask);
    return { files: [] };
  }
}

interface GrepRequest extends GlobRequest {
  readonly glob: string | null | undefined;
  readonly maxCount: number | null | undefined;
}

export async function grepFiles(
  runner: ScriptRunner,
  transfers: Transfers,
  request: GrepRequest,
  ask: Ask,
): Promise<GrepResult> {
  const invalid = invalidPattern(request.pattern) ?? globOf(request.glob, ask.path);
  if (invalid.error !== undefined) return invalid;
  const end = performance.now() + ask.timeout * 1000;
  const search = new Search(request, ask);
  try {
    const tree = await walk(runner, ask.path, searchHint(request.pattern), ask, true);
    const files = filesToSearch(tree, search, request, ask);
    for (let start = 0; start < files.length; ) {
      if (performance.now() > end) return search.result({ truncated: true, timedOut: true });
      const batch = batchFrom(files, start, tree.searched ? search.missing : BATCH_FILES);
      start += batch.length;
      for (const [path, content] of await contentsOf(runner, transfers, batch, ask)) {
        const goesOn = typeof content === "string" ? search.skip(path, content) : search.add(path, content);
        if (!goesOn) return search.result({ truncated: true });
      }
    }
    return search.result({});
  } catch (error) {
    if (error instanceof OutOfTime) return search.result({ truncated: true, timedOut: true });
    if (error instanceof FileFailure && error.result.code === "NOT_A_DIRECTORY")
      throw failureOf("SPECIAL_FILE", ask.name);
    throw error;
  }
}

/** A file given as the path is searched even if it is ignored. */
function filesToSearch(tree: Tree, search: Search, request: GrepRequest, { path: start }: Ask): Entry[] {
  const isSearched = tree.isAlone
    ? (path: string) => globOf(request.glob, parentPath(path)).matches?.(path) !== false
    : fileFilter(tree, start, globOf(request.glob, start), request);
  for (const { path, code } of tree.skipped)
    if (code !== "TOO_LARGE" || isSearched(path)) search.skip(path, code);
  return tree.files.filter(
    ({ path, size }) => isSearched(path) && (size <= MAX_SEARCHED_BYTES || !search.skip(path, "TOO_LARGE")),
  );
}

/** Downloads files that a command has named. Commands and transfers may use different names for a file. */
async function contentsOf(
  runner: ScriptRunner,
  transfers: Transfers,
  paths: readonly string[],
  ask: Ask,
): Promise<[string, Buffer | FileErrorCode][]> {
  const contents = await transfers.getAll(
    paths.map((path) => spelledAs(ask, path)),
    ask,
  );
  const found: [string, Buffer | FileErrorCode][] = [];
  for (const [index, path] of paths.entries()) {
    const content = contents[index] as Buffer | string;
    found.push([path, typeof content === "string" ? await printed(runner, path, ask) : content]);
  }
  return found;
}

async function printed(runner: ScriptRunner, path: string, ask: Ask): Promise<Buffer | FileErrorCode> {
  try {
    return (await runner.ask(CONTENT, [operandOf(path, ask)], ask)).bytes;
  } catch (error) {
    if (!(error instanceof FileFailure) || error instanceof OutOfTime) throw error;
    return error.result.code;
  }
}

class Search {
  readonly #matches: GrepMatch[] = [];
  readonly #skipped: SkippedFile[] = [];
  readonly #find: TextFinder;
  readonly #limit: number;
  readonly #ask: Ask;

  constructor({ pattern, maxCount }: GrepRequest, ask: Ask) {
    this.#find = textFinder(pattern);
    this.#limit = matchLimit(maxCount);
    this.#ask = ask;
  }

  /** False when there are more matches than asked for. */
  add(path: string, bytes: Buffer): boolean {
    const text = decodeBytes(bytes)?.text;
    const name = spelledAs(this.#ask, path);
    return text === undefined || findLines(this.#matches, name, text, this.#find, this.#limit);
  }

  /** As many files with a match each are enough to know that there are too many. */
  get missing(): number {
    return Math.max(this.#limit + 1 - this.#matches.length, FEWEST_FILES);
  }

  /** A file that is gone by now is not reported. */
  skip(path: string, code: FileErrorCode): true {
    if (code !== "FILE_NOT_FOUND") this.#skipped.push({ path, code });
    return true;
  }

  result(flags: { readonly truncated?: boolean; readonly timedOut?: boolean }): GrepResult {
    return withSkipped({ matches: this.#matches, ...flags }, this.#skipped, this.#ask);
  }
}

async function walk(
  runner: ScriptRunner,
  path: string,
  hint: Buffer,
  ask: Ask,
  mayBeFile = false,
): Promise<Tree> {
  const values = [operandOf(path, ask), hint, MAX_SEARCHED_BYTES, mayBeFile ? "yes" : ""];
  return treeOf(await runner.ask(WALK, values, { ...ask, name: spelledAs(ask, path) || "." }));
}

/** The name that commands use for a path below the one of `ask`. */
function operandOf(path: string, ask: Ask): string {
  if (path === ask.path) return ask.operand;
  return ask.operand.startsWith(".") ? `.${path}` : path;
}

/** Whether a file below `start` is to be searched: it fits the glob, and nothing from `start` down is ignored. */
function fileFilter(
  tree: Tree,
  start: string,
  glob: Glob,
  { ignoreFiles }: GlobRequest,
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

function batchFrom(files: readonly Entry[], start: number, most: number): string[] {
  const paths: string[] = [];
  let bytes = 0;
  for (const { path, size } of files.slice(start, start + Math.min(most, BATCH_FILES))) {
    bytes += size;
    if (paths.length > 0 && bytes > BATCH_BYTES) break;
    paths.push(path);
  }
  return paths;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
