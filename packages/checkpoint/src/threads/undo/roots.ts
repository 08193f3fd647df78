/** Directories whose files may be put back. */
import { DISK } from "../images.ts";

export interface Roots {
  /** Real paths. */
  readonly paths: ReadonlySet<string>;
  /** Undefined for a directory that is none of them. */
  readonly changedSince: (place: string, moment: number) => Promise<readonly string[] | undefined>;
}

/** The disk is asked only where files may be put back. */
export async function openRoots(roots: readonly string[]): Promise<Roots> {
  if (roots.length === 0) return { paths: new Set(), changedSince: async () => undefined };
  const { undoTreeName, openUndoTree } = await import("deepwright/internal");
  const places = new Set(roots.map((root) => undoTreeName(root)));
  return {
    paths: new Set([...places].map((place) => place.slice(DISK.length))),
    changedSince: async (place, moment) =>
      places.has(place) ? openUndoTree(place)?.changedSince(moment) : undefined,
  };
}
