/**
 * Searches the files of a tree in order, with ripgrep's help where there is much to read.
 *
 * The search begins on its own, so that small trees and capped searches for common words are done before a
 * process could have started. If it goes on and few files match, ripgrep is asked which of the rest can
 * match at all, while the files are counted here. Its answer is used only if ripgrep must have read exactly
 * the files that we would: ignore files of the common kind, and the same number of files. Otherwise the
 * search goes on as if it had not been asked.
 */
import { closeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { expandBraces } from "../../text/glob-braces.ts";
import { directoryFilter } from "../../text/glob-prune.ts";
import type { FileErrorCode, GrepMatch, GrepResult, SkippedFile } from "../backend.ts";
import { Pace } from "./pace.ts";
import { askRipgrep, type RipgrepAnswer, ripgrepLiteral, ripgrepPath } from "./ripgrep.ts";
import type { FileScanner } from "./scan-file.ts";
import { type GrepRequest, type SearchStart, startScope, withSlash } from "./search-start.ts";
import { skipCode, TreeWalk, type WalkedFile } from "./walk.ts";

const ASK_AFTER_MILLISECONDS = 10;
const ASK_AGAIN_MILLISECONDS = 100;
/** Where a larger share of files matches, most would have to be read anyway. */
const DENSE = 0.4;
/** Files that have to be searched before that share means anything. */
const SAMPLE = 20;
/** The share of the remaining time that ripgrep may take. */
const PATIENCE = 0.5;
const PLAIN_NAME = /^[\w.*-]+$/;

/** `end`: every file was seen; `later`: it is time to ask. */
type Stop = "end" | "full" | "timeout" | "later";

export class GrepTree {
  readonly #request: GrepRequest;
  readonly #start: SearchStart;
  readonly #scanner: FileScanner;
  readonly #filter: (path: string) => boolean;
  readonly #pace: Pace;
  readonly #matches: GrepMatch[] = [];
  readonly #skipped = new Map<string, SkippedFile & { readonly order: string }>();
  /** The path of the last file that was searched; all before it are done. */
  #done = "";
  #wasHelped = false;
  /** Files that were searched or counted, and those among them that are too large. */
  #seen = 0;
  #large = 0;

  constructor(
    request: GrepRequest,
    start: SearchStart,
    scanner: FileScanner,
    filter: (path: string) => boolean,
  ) {
    this.#request = request;
    this.#start = start;
    this.#scanner = scanner;
    this.#filter = filter;
    this.#pace = new Pace(request.timeoutSeconds, request.signal);
  }

  /** Whether an answer of ripgrep was used. */
  get wasHelped(): boolean {
    return this.#wasHelped;
  }

  async run(): Promise<GrepResult> {
    const directories = this.#request.glob
      ? directoryFilter(this.#request.glob, this.#request.path)
      : () => true;
    const walk = this.#walk(directories);
    const files = walk.files();
    try {
      const stop = await this.#search(files, this.#canAsk());
      if (stop !== "later") return this.#result(stop);
      const candidates = await this.#candidates(walk, files);
      return this.#result(await this.#searchRest(directories, candidates));
    } finally {
      files.return(undefined);
    }
  }

  async #searchRest(
    directories: (path: string) => boolean,
    candidates: Candidates | undefined,
  ): Promise<Stop> {
    this.#wasHelped = candidates !== undefined;
    const last = this.#done;
    const walk = this.#walk(
      (path) => isAhead(path, last) && directories(path) && (candidates?.enters(path) ?? true),
    );
    const files = ahead(walk.files(), last, candidates);
    try {
      return await this.#search(files);
    } finally {
      files.return(undefined);
    }
  }

  #walk(enters: (path: string) => boolean): TreeWalk {
    return new TreeWalk({
      ...startScope(this.#request, this.#start),
      enters,
      fits: this.#filter,
      onSkipped: (path, code, order) => this.#skip(path, code, order),
    });
  }

  async #search(files: Iterator<WalkedFile | undefined>, mayAsk = false): Promise<Stop> {
    let askAt = performance.now() + (this.#request.ripgrepAfterMilliseconds ?? ASK_AFTER_MILLISECONDS);
    let searched = 0;
    let matching = 0;
    for (let next = files.next(); !next.done; next = files.next()) {
      if (this.#pace.isDue && !(await this.#pace.rest())) return "timeout";
      const file = next.value;
      if (file === undefined || !this.#filter(file.path)) continue;
      const before = this.#matches.length;
      if (!this.#scan(file)) return "full";
      searched += 1;
      if (this.#matches.length > before) matching += 1;
      if (!mayAsk || performance.now() < askAt) continue;
      if (searched < SAMPLE || matching < searched * DENSE) return "later";
      askAt += ASK_AGAIN_MILLISECONDS;
      searched = 0;
      matching = 0;
    }
    return "end";
  }

  /** False when there is a match more than asked for. */
  #scan({ directory, name, path }: WalkedFile): boolean {
    this.#done = path;
    this.#seen += 1;
    let descriptor: number | undefined;
    try {
      descriptor = directory.openFile(name);
      const outcome = this.#scanner.scan(descriptor, path, this.#matches);
      if (outcome === "too-large") this.#tooLarge(path);
      return outcome !== "full";
    } catch (error) {
      this.#skip(path, skipCode(error), path);
      return true;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  #skip(path: string, code: FileErrorCode | undefined, order: string): void {
    if (code !== undefined) this.#skipped.set(path, { path, code, order });
  }

  #tooLarge(path: string): void {
    if (this.#skipped.has(path)) return;
    this.#large += 1;
    this.#skip(path, "TOO_LARGE", path);
  }

  /** Whether ripgrep can be told what to search. */
  #canAsk(): boolean {
    const { above } = this.#start;
    return (
      this.#request.useRipgrep &&
      (above.length === 0 || (above.length === 1 && above[0]?.rules.plain === true)) &&
      namesOf(this.#request.glob) !== "unclear" &&
      ripgrepLiteral(this.#request.pattern) !== undefined
    );
  }

  /** The files that can match among those `files` still has; undefined when it is not known. */
  async #candidates(
    walk: TreeWalk,
    files: Iterator<WalkedFile | undefined>,
  ): Promise<Candidates | undefined> {
    const program = await ripgrepPath();
    if (program === undefined) return undefined;
    const finished = new AbortController();
    const asked = this.#ask(program, finished.signal);
    try {
      const sizesKnown = availableParallelism() > 2;
      if (!(await this.#count(files, sizesKnown))) return undefined;
      const answer = walk.plain ? await asked : undefined;
      if (answer === undefined) return undefined;
      if (answer.searched !== this.#seen - this.#large && !sizesKnown) await this.#measure();
      return answer.searched === this.#seen - this.#large ? this.#toCandidates(answer) : undefined;
    } finally {
      finished.abort();
      await asked;
      this.#request.signal?.throwIfAborted();
    }
  }

  async #ask(program: string, finished: AbortSignal): Promise<RipgrepAnswer | undefined> {
    const { root, signal, pattern, glob, respectGitignore } = this.#request;
    const literal = ripgrepLiteral(pattern);
    const above = this.#start.above[0];
    const opened = above === undefined ? undefined : root.openDirectory(above.path);
    if (literal === undefined || (opened !== undefined && "error" in opened)) return undefined;
    const patience = AbortSignal.timeout(Math.ceil(this.#pace.remainingMilliseconds * PATIENCE));
    const names = namesOf(glob);
    try {
      return await askRipgrep({
        program,
        directory: (opened?.directory ?? this.#start.directory).at || "/",
        start: this.#searchedName(),
        literal,
        names: names === "unclear" ? undefined : names,
        readIgnoreFiles: respectGitignore,
        ignoreFileAbove: above !== undefined,
        maxFileSize: this.#scanner.maxFileSize,
        signal: AbortSignal.any([patience, finished, ...(signal === undefined ? [] : [signal])]),
      });
    } finally {
      opened?.directory.close();
    }
  }

  /** The start as ripgrep is told it, with a slash at its end. */
  #searchedName(): string {
    const above = this.#start.above[0];
    return above === undefined
      ? "./"
      : `./${withSlash(this.#start.realPath).slice(withSlash(above.path).length)}`;
  }

  /** Counts the files that are left; false when the time is up. */
  async #count(files: Iterator<WalkedFile | undefined>, withSizes: boolean): Promise<boolean> {
    for (let next = files.next(); !next.done; next = files.next()) {
      if (this.#pace.isDue && !(await this.#pace.rest())) return false;
      if (next.value === undefined || !this.#filter(next.value.path)) continue;
      this.#seen += 1;
      if (withSizes) this.#noteSize(next.value);
    }
    return true;
  }

  /** Finds the files that are too large among those that were only counted. */
  async #measure(): Promise<void> {
    const last = this.#done;
    const walk = this.#walk((path) => isAhead(path, last));
    for (const file of ahead(walk.files(), last, undefined)) {
      if (this.#pace.isDue && !(await this.#pace.rest())) return;
      if (file !== undefined && this.#filter(file.path)) this.#noteSize(file);
    }
  }

  #noteSize({ directory, name, path }: WalkedFile): void {
    try {
      if (directory.lstat(name).size > this.#scanner.maxFileSize) this.#tooLarge(path);
    } catch (error) {
      this.#skip(path, skipCode(error), path);
    }
  }

  #toCandidates(answer: RipgrepAnswer): Candidates {
    const base = withSlash(this.#request.path);
    const { length } = this.#searchedName();
    return new Candidates(
      base,
      answer.files.map((file) => base + file.slice(length).normalize("NFC")),
    );
  }

  #result(stop: Stop): GrepResult {
    const skipped = [...this.#skipped.values()]
      .filter(({ order }) => stop !== "full" || order <= this.#done)
      .sort((one, other) => (one.path < other.path ? -1 : 1))
      .map(({ path, code }) => ({ path, code }));
    return {
      matches: this.#matches,
      ...(stop === "full" ? { truncated: true } : {}),
      ...(stop === "timeout" ? { truncated: true, timedOut: true } : {}),
      ...(skipped.length > 0 ? { skipped } : {}),
    };
  }
}

/** Files that may match, and the directories they lie in. */
class Candidates {
  readonly #files: ReadonlySet<string>;
  readonly #directories = new Set<string>();

  constructor(base: string, files: readonly string[]) {
    this.#files = new Set(files);
    for (const file of files)
      for (let end = file.lastIndexOf("/"); end >= base.length; end = file.lastIndexOf("/", end - 1)) {
        const directory = file.slice(0, end + 1);
        if (this.#directories.has(directory)) break;
        this.#directories.add(directory);
      }
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  enters(directory: string): boolean {
    return this.#directories.has(directory);
  }
}

/** Whether a directory holds files that come after `last`. */
function isAhead(directory: string, last: string): boolean {
  return directory > last || last.startsWith(directory);
}

function* ahead(
  files: Iterable<WalkedFile | undefined>,
  last: string,
  candidates: Candidates | undefined,
): Generator<WalkedFile | undefined> {
  for (const file of files)
    if (file === undefined || (file.path > last && (candidates?.has(file.path) ?? true))) yield file;
}

/** The wildcards of names that a filter stands for; undefined: there is none. */
function namesOf(glob: string | null | undefined): readonly string[] | undefined | "unclear" {
  if (!glob) return undefined;
  const names = expandBraces(glob) ?? [""];
  return names.every((name) => PLAIN_NAME.test(name)) ? names : "unclear";
}
