/** Characters a list of results may take in the context of a model. */
export const MAX_LIST_CHARACTERS = 80_000;

export interface BoundedList {
  readonly text: string;
  /** How many entries did not fit. */
  readonly left: number;
}

/** As many whole entries as fit, one a line; always at least the first. */
export function boundedList(entries: readonly string[], maxCharacters?: number): BoundedList {
  return boundedLines(entries, (entry) => entry, maxCharacters);
}

/** The same for items, with entries made only as far as they fit. */
export function boundedLines<Item>(
  items: readonly Item[],
  entryOf: (item: Item) => string,
  maxCharacters = MAX_LIST_CHARACTERS,
): BoundedList {
  const entries: string[] = [];
  let size = 0;
  for (const item of items) {
    const entry = entryOf(item);
    size += entry.length + 1;
    if (entries.length > 0 && size > maxCharacters) break;
    entries.push(entry);
  }
  return { text: entries.join("\n"), left: items.length - entries.length };
}
