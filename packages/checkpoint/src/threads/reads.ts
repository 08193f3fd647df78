/**
 * How many objects must be read to build one of a thread file.
 *
 * A few that refer to one another many times over are a small file and an endless state.
 */
import type { LineReader } from "./thread-file.ts";

/** Beyond once for every object of the file. */
const MOST_REPEATS = 2 ** 20;

export class Reads {
  /** By number in the file. */
  private readonly counts: number[] = [];

  constructor(private readonly reader: LineReader) {}

  /** The next object of the file. */
  add(refs: readonly number[], body: string | Uint8Array): void {
    this.counts.push(this.checked(refs, refs, body));
  }

  /** A row whose body says `{"$": n}` for `used[n]`. */
  check(refs: readonly number[], used: readonly number[], body: string): void {
    this.checked(refs, used, body);
  }

  private checked(refs: readonly number[], used: readonly number[], body: string | Uint8Array): number {
    const named = typeof body === "string" ? refIndexes(body).map((place) => used[place]) : [];
    const reads = 1 + Math.max(this.sum(refs), this.sum(named));
    this.reader.check(reads <= this.counts.length + MOST_REPEATS, "repeats the same content too often");
    return reads;
  }

  private sum(numbers: readonly (number | undefined)[]): number {
    let sum = 0;
    for (const number of numbers) sum += this.counts[number as number] ?? 0;
    return sum;
  }
}

/** The numbers of references, in the order of the text. Bodies that are no JSON have none. */
export function refIndexes(body: string): number[] {
  if (!body.includes("$") && !body.includes("\\u")) return [];
  try {
    const canonical = JSON.stringify(JSON.parse(body.replace(/^D/, "")));
    return Array.from(canonical.matchAll(/"\$":(\d+)/g), ([, place]) => Number(place));
  } catch {
    return [];
  }
}
