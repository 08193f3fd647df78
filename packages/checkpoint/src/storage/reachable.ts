/** Finds the objects that a set of roots leads to. */
export function reachable(
  roots: Iterable<number>,
  refsOf: (id: number) => readonly number[] | undefined,
  known: ReadonlySet<number> = new Set(),
): Set<number> {
  const found = new Set<number>();
  const open = [...roots];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id) || known.has(id)) continue;
    const refs = refsOf(id);
    if (!refs) continue;
    found.add(id);
    for (const ref of refs) open.push(ref);
  }
  return found;
}
