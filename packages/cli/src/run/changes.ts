/** File changes of a run, as reported at its end. */

export interface Change {
  /** As the agent sees it. */
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
}

/** Paths, sorted. */
export interface Changes {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
}

export const NO_CHANGES: Changes = { created: [], changed: [], deleted: [] };

export function changesOf(files: readonly Change[]): Changes {
  const paths = (wanted: Change["kind"]): string[] =>
    files
      .filter(({ kind }) => kind === wanted)
      .map(({ path }) => path)
      .sort();
  return { created: paths("created"), changed: paths("changed"), deleted: paths("deleted") };
}

export function isUnchanged({ created, changed, deleted }: Changes): boolean {
  return created.length + changed.length + deleted.length === 0;
}
