/** Changes that were made to files but kept apart from them. */
import { isWithin, parentPath } from "../../paths.ts";
import type { AnyFileData, FileData } from "../backend.ts";
import type { FileMap } from "../file-map/file-map.ts";

export interface PreviewChange {
  readonly path: string;
  /** null: there was no file. */
  readonly before: FileData | null;
  /** null: there is none any more. */
  readonly after: FileData | null;
}

export class Overlay {
  readonly #changes = new Map<
    string,
    { readonly before: FileData | null; readonly after: FileData | null }
  >();
  /** Deleted directories: everything below them is hidden. */
  readonly #gone = new Set<string>();

  /** The files that were changed and still are there. */
  readonly files: FileMap = {
    get: (path) => this.#changes.get(path)?.after ?? undefined,
    paths: () => [...this.#changes].flatMap(([path, { after }]) => (after === null ? [] : [path])).sort(),
    holdsUnder: (prefix) => {
      for (const [path, { after }] of this.#changes)
        if (after !== null && path.startsWith(prefix)) return true;
      return false;
    },
  };

  /** Whether the file differs from the inner backend's, or is deleted. */
  covers(path: string): boolean {
    return this.#changes.has(path) || this.#isGone(path);
  }

  /** Whether any file at or below `path` differs from the inner backend's. */
  hidesUnder(path: string): boolean {
    if (this.#isGone(path)) return true;
    return [...this.#gone, ...this.#changes.keys()].some((place) => isWithin(place, path));
  }

  /** Whether anything of `directory` may be missing now. */
  hidesIn(directory: string): boolean {
    if (this.#isGone(directory)) return true;
    for (const gone of this.#gone) if (isWithin(gone, directory)) return true;
    for (const [path, { after }] of this.#changes)
      if (after === null && path.startsWith(directory === "/" ? "/" : `${directory}/`)) return true;
    return false;
  }

  /** `before` has the files of the inner backend that change for the first time. */
  apply(
    update: Readonly<Record<string, FileData | null>>,
    before: (path: string) => AnyFileData | undefined,
  ): void {
    for (const [path, after] of Object.entries(update)) {
      const known = this.#changes.get(path);
      const first = known === undefined ? ((before(path) as FileData | undefined) ?? null) : known.before;
      if (first === null && after === null && !this.#isGone(path)) this.#changes.delete(path);
      else this.#changes.set(path, { before: first, after });
    }
  }

  removeDirectory(path: string): void {
    this.#gone.add(path);
  }

  list(): PreviewChange[] {
    return [...this.#changes]
      .filter(([, { before, after }]) => !hasSameContent(before, after))
      .map(([path, change]) => ({ path, ...change }))
      .sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  #isGone(path: string): boolean {
    if (this.#gone.size === 0) return false;
    for (let place = path; place !== "/"; place = parentPath(place)) if (this.#gone.has(place)) return true;
    return false;
  }
}

function hasSameContent(one: FileData | null, other: FileData | null): boolean {
  if (!(one?.content instanceof Uint8Array && other?.content instanceof Uint8Array))
    return one?.content === other?.content;
  const { content } = other;
  return one.content.length === content.length && one.content.every((byte, index) => byte === content[index]);
}
