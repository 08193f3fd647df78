/** Changes of a run to memory files, and whether it removed too much. Pure. */
import { countLines, lineChanges } from "./unified-diff.ts";

/** Contents by path; undefined: there is no such file. */
export type MemoryTexts = ReadonlyMap<string, string | undefined>;

export interface MemoryFileChange {
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  /** A unified diff. */
  readonly patch: string;
  /** Lines that are gone, without their indentation. One that was reworded is gone and added. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Why the file was to be put back; absent: the change stands. */
  readonly refused?: string;
  /** Refused change only: whether the file is as it was. False if somebody else wrote to it meanwhile. */
  readonly putBack?: boolean;
}

/** So few lines may all be reworded: a share of them says little. */
const FEW_LINES = 3;

/** Files that differ, in the order of `before`. `maxRemoved` is a share of a file's lines, 0 to 1. */
export function memoryChanges(
  before: MemoryTexts,
  after: MemoryTexts,
  maxRemoved: number,
): MemoryFileChange[] {
  return [...before].flatMap(([path, old]) => {
    const now = after.get(path);
    if (old === now) return [];
    const kind = old === undefined ? "created" : now === undefined ? "deleted" : "changed";
    const changes = lineChanges(path, old, now);
    const refused = whyTooMuch(old ?? "", now ?? "", changes.removed.length, maxRemoved);
    return [{ path, kind, ...changes, ...(refused === undefined ? {} : { refused }) } as const];
  });
}

function whyTooMuch(old: string, now: string, removed: number, maxRemoved: number): string | undefined {
  const lines = countLines(old);
  if (maxRemoved >= 1 || lines === 0) return undefined;
  if (countLines(now) === 0) return `all of its ${lines} lines were removed`;
  if (removed <= FEW_LINES || removed <= lines * maxRemoved) return undefined;
  return `${removed} of its ${lines} lines were removed, which is more than ${Math.round(maxRemoved * 100)} %`;
}
