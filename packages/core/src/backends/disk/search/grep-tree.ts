/** Searches the files of a tree in the order of their paths, each through the directory that holds it. */
import { closeSync } from "node:fs";
import { directoryFilter } from "../../../text/glob/glob-prune.ts";
import type { FileErrorCode, GrepMatch, GrepResult, SkippedFile } from "../../backend.ts";
import { Pace } from "./pace.ts";
import type { FileScanner } from "./scan-file.ts";
import { type GrepRequest, type SearchStart, startScope } from "./search-start.ts";
import { skipCode, TreeWalk, type WalkedFile } from "./walk.ts";

/** `end`: every file was seen; `full`: there is a match more than asked for. */
type Stop = "end" | "full" | "timeout";

export class GrepTree {
  readonly #request: GrepRequest;
  readonly #start: SearchStart;
  readonly #scanner: FileScanner;
  readonly #filter: (path: string) => boolean;
  readonly #matches: GrepMatch[] = [];
  readonly #skipped: (SkippedFile & { readonly order: string })[] = [];
  /** The path of the last file that was searched; all before it are done. */
  #done = "";

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
  }

  async run(): Promise<GrepResult> {
    const { glob, path } = this.#request;
    const walk = new TreeWalk({
      ...startScope(this.#request, this.#start),
      enters: glob ? directoryFilter(glob, path) : () => true,
      fits: this.#filter,
      onSkipped: (at, code, order) => this.#skip(at, code, order),
    });
    const files = walk.files();
    try {
      return this.#result(await this.#search(files));
    } finally {
      files.return(undefined);
    }
  }

  async #search(files: Iterable<WalkedFile | undefined>): Promise<Stop> {
    const pace = new Pace(this.#request.timeoutSeconds, this.#request.signal);
    for (const file of files) {
      if (pace.isDue && !(await pace.rest())) return "timeout";
      if (file !== undefined && this.#filter(file.path) && !this.#scan(file)) return "full";
    }
    return "end";
  }

  /** False when there is a match more than asked for. */
  #scan({ directory, name, path }: WalkedFile): boolean {
    this.#done = path;
    let descriptor: number | undefined;
    try {
      descriptor = directory.openFile(name);
      const outcome = this.#scanner.scan(descriptor, path, this.#matches);
      if (outcome === "too-large") this.#skip(path, "TOO_LARGE", path);
      return outcome !== "full";
    } catch (error) {
      this.#skip(path, skipCode(error), path);
      return true;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  #skip(path: string, code: FileErrorCode | undefined, order: string): void {
    if (code !== undefined) this.#skipped.push({ path, code, order });
  }

  #result(stop: Stop): GrepResult {
    const skipped = this.#skipped
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
