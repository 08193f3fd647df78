/**
 * Finds what a command moved although its content is not kept, such as `.git` or a key file. Taking back the move would
 * remove the only copy, so the moved entry stays.
 */
import type { FoundEntry, WorkTree } from "deepwright/internal";
import { type Choice, movesOf } from "./plan.ts";
import type { FileTimeline } from "./timeline.ts";

export interface MovedEntry {
  /** Where it is now. */
  readonly path: string;
  readonly reason: string;
}

export class MovedEntries {
  /** Earlier paths of entries that are missing and not kept, by inode. */
  readonly #missing = new Map<string, string>();
  /** Directories that were looked at. */
  readonly #known = new Map<string, MovedEntry | undefined>();

  constructor(private readonly tree: WorkTree) {}

  async look(files: readonly FileTimeline[], choice: Choice): Promise<void> {
    for (const file of files) {
      const wanted = (await this.#isMissing(file)) ? await movesOf(file, choice).at(-1)?.to() : undefined;
      if (wanted?.type === "not-kept") this.#missing.set(wanted.mark.split(":")[0] as string, file.path);
    }
  }

  /** A path that cannot be looked at may be missing. It is reported when its turn comes. */
  async #isMissing({ path }: FileTimeline): Promise<boolean> {
    try {
      return (await this.tree.inodeOf(path)) === undefined;
    } catch {
      return true;
    }
  }

  /** The moved entry that is found at `path`, or that has it inside. */
  async at(path: string, { stats }: FoundEntry): Promise<MovedEntry | undefined> {
    if (this.#missing.size === 0 || stats === undefined) return undefined;
    return (await this.#above(path)) ?? this.#entry(path, stats.ino);
  }

  async #above(path: string): Promise<MovedEntry | undefined> {
    const directory = path.slice(0, path.lastIndexOf("/"));
    if (directory === "") return undefined;
    if (!this.#known.has(directory)) {
      const above = await this.#above(directory);
      this.#known.set(directory, above ?? this.#entry(directory, await this.tree.inodeOf(directory)));
    }
    return this.#known.get(directory);
  }

  #entry(path: string, inode: bigint | undefined): MovedEntry | undefined {
    const from = inode === undefined ? undefined : this.#missing.get(String(inode));
    if (from === undefined) return undefined;
    const reason = `It was ${from}, whose content is not kept. It stays here; move it back by hand.`;
    return { path, reason };
  }
}
