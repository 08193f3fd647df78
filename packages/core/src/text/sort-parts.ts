/** Sorts a long list in parts. Pure. */

/** Shorter lists take a few milliseconds. */
const PART = 8_192;

type Compare<Item> = (one: Item, other: Item) => number;

/** The sorted list is the value it returns; it yields after each part of the work. */
export function* sortParts<Item>(
  list: readonly Item[],
  compare: Compare<Item>,
): Generator<undefined, Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < list.length; at += PART) {
    runs.push(list.slice(at, at + PART).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] as Item[], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<Item>(one: Item[], other: Item[], compare: Compare<Item>): Generator<undefined, Item[]> {
  const merged: Item[] = [];
  for (let i = 0, j = 0; i < one.length || j < other.length; ) {
    const takesOther =
      i === one.length || (j < other.length && compare(other[j] as Item, one[i] as Item) < 0);
    merged.push((takesOther ? other[j++] : one[i++]) as Item);
    if (merged.length % PART === 0) yield;
  }
  return merged;
}
