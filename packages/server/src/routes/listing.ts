/** Pages of listings. */
import { HEADER } from "@deepwright/protocol";

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** How many there are, and where the next page begins. */
export function pageHeaders(page: Page, found: number, total: number): Record<string, string> {
  const next = page.offset + found;
  return {
    [HEADER.paginationTotal]: String(total),
    ...(found > 0 && next < total && { [HEADER.paginationNext]: String(next) }),
  };
}

/** The named fields of each; all of them when none is named. */
export function selected<Item extends object>(
  items: readonly Item[],
  fields: readonly string[] | null | undefined,
): Item[] {
  if (!fields || fields.length === 0) return [...items];
  const wanted = new Set(fields);
  return items.map((item) => {
    const entries = Object.entries(item).filter(([key]) => wanted.has(key));
    return Object.fromEntries(entries) as Item;
  });
}
