/** Chooses the checkpoints of a thread that may be removed. Pure, so that every storage decides alike. */

export interface PrunableRow {
  readonly namespace: string;
  readonly id: string;
  /** The checkpoint of the root namespace this one belongs to; absent in the root namespace. */
  readonly root: string | undefined;
  readonly storedAt: number;
  /** Whether this checkpoint, or later ones, can only be read together with its ancestors. */
  readonly needsAncestors: boolean;
}

export interface PruneRule {
  readonly keepLatest?: number;
  readonly olderThan?: number;
  /** No checkpoint goes. */
  readonly onlyImages?: boolean;
}

/** Each rule selects the rows that it names. */
export function fallsUnder(row: PrunableRow, place: number, rule: PruneRule): boolean {
  if (rule.keepLatest !== undefined && place >= Math.max(1, rule.keepLatest)) return true;
  return rule.olderThan !== undefined && row.storedAt < rule.olderThan;
}

/**
 * The rows to remove. `rows` are all checkpoints of one thread, newest first within each namespace.
 *
 * The newest of a namespace stays. A child's checkpoints stay or go with their root checkpoint; a namespace that
 * outlives its run (a subgraph with a memory of its own) keeps its newest anyway. A namespace whose newest checkpoint
 * needs its ancestors is left alone.
 */
export function planPrune<Row extends PrunableRow>(rows: readonly Row[], rule: PruneRule): Row[] {
  if (rule.onlyImages) return [];
  const spaces = new Map<string, Row[]>();
  for (const row of rows) {
    const space = spaces.get(row.namespace);
    if (space) space.push(row);
    else spaces.set(row.namespace, [row]);
  }
  const rootRows = spaces.get("") ?? [];
  const goneRoots = new Set(goingByRule(rootRows, rule).map((row) => row.id));
  const presentRoots = new Set(rootRows.map((row) => row.id));
  const newestRoot = rootRows[0]?.id;
  /** A root that is not there and not newer than all that are was removed earlier. */
  const rootIsGone = (root: string) =>
    goneRoots.has(root) || (!presentRoots.has(root) && newestRoot !== undefined && root < newestRoot);
  const going: Row[] = [];
  for (const [namespace, space] of spaces) {
    const onItsOwn =
      namespace === "" || newestRoot === undefined || space.some((row) => row.root === undefined);
    going.push(...(onItsOwn ? goingByRule(space, rule) : goingWithRoot(namespace, space, rootIsGone)));
  }
  return going;
}

function goingByRule<Row extends PrunableRow>(space: readonly Row[], rule: PruneRule): Row[] {
  if (space[0]?.needsAncestors) return [];
  return space.filter((row, place) => place > 0 && fallsUnder(row, place, rule));
}

function goingWithRoot<Row extends PrunableRow>(
  namespace: string,
  space: readonly Row[],
  rootIsGone: (root: string) => boolean,
): Row[] {
  const going = space.filter((row) => rootIsGone(row.root as string));
  if (going.length === space.length && belongsToOneTask(namespace)) return going;
  if (space[0]?.needsAncestors) return [];
  return belongsToOneTask(namespace) ? going : going.filter((row) => row !== space[0]);
}

/** LangGraph ends the names of a task's own namespaces with the task's id, as in `tools:1f0…`. */
function belongsToOneTask(namespace: string): boolean {
  return namespace.includes(":");
}
