/** Pages that end by their size. */
import { tooLarge } from "../storage/too-large.ts";

export interface ByteLimit {
  /** After which a page ends. It has one item at least. */
  readonly page: number;
  /** Bytes of one item; a page that begins with a larger one throws VALUE_TOO_LARGE. Default: no limit. */
  readonly one?: number;
}

/** How many of the first items are one page, by their sizes. */
export function fitting(
  sizes: readonly number[],
  { page, one = Number.POSITIVE_INFINITY }: ByteLimit,
): number {
  if ((sizes[0] ?? 0) > one) throw tooLarge(one);
  let bytes = 0;
  const end = sizes.findIndex((size, index) => {
    bytes += size;
    return index > 0 && bytes > page;
  });
  return end === -1 ? sizes.length : end;
}
