/** Characters a list of results may take in the context of a model. */
export const MAX_LIST_CHARACTERS = 80_000;

export interface BoundedList {
  readonly text: string;
  /** How many entries did not fit. */
  readonly left: number;
}

/** As many whole entries as fit, one a line; always at least the first. */
export function boundedList(entries: readonly string[], maxCharacters = MAX_LIST_CHARACTERS): BoundedList {
  let size = 0;
  let count = 0;
  for (const entry of entries) {
    size += entry.length + 1;
    if (count > 0 && size > maxCharacters) break;
    count += 1;
  }
  return { text: entries.slice(0, count).join("\n"), left: entries.length - count };
}
