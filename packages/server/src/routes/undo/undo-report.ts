/** Reports of changed files, as clients read them. */
import type { FileChange, NotCovered, RewindConflict } from "@deepwright/checkpoint";

interface Report {
  readonly restored: readonly FileChange[];
  readonly conflicts: readonly RewindConflict[];
  readonly notCovered: readonly NotCovered[];
}

/** Where a directory lies is the machine's own business. */
export function shownReport({ restored, conflicts, notCovered }: Report) {
  const placeOf = ({ place }: { readonly place?: string }) =>
    place === undefined ? {} : { place: "outside" };
  return {
    restored: restored.map((change) => ({
      ...{ path: change.path, kind: change.kind, patch: change.patch ?? null },
      ...placeOf(change),
      ...(change.detail !== undefined && { detail: change.detail }),
    })),
    conflicts: conflicts.map((conflict) => ({
      ...{ path: conflict.path, reason: conflict.reason },
      ...placeOf(conflict),
      ...(conflict.keptAt !== undefined && { kept_at: conflict.keptAt }),
    })),
    not_covered: notCovered.map(({ path, command, reason }) => ({
      ...(path !== undefined && { path }),
      ...(command !== undefined && { command }),
      reason,
    })),
  };
}
