/** Pages of listings. */

import type { ByteLimit } from "@deepwright/checkpoint/sql";
import { HEADER } from "@deepwright/protocol";
import { HeldAnswer } from "../http/held-answer.ts";
import type { Limits } from "../http/limits/limits.ts";
import type { Call } from "./call.ts";

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Limits of a page of a listing. */
export function byteLimit({ pageBytes, answerBytes }: Limits): ByteLimit {
  return { page: pageBytes, one: answerBytes };
}

/** Items as JSON, until the page is full. Each is written when it is read: what is left out is not held. */
export class PageText {
  readonly #texts: string[] = [];
  #bytes = 0;

  constructor(private readonly call: Pick<Call, "services" | "held">) {}

  /** False: the page is full, and the next one begins with this item. */
  add(item: unknown): boolean {
    const { services, held } = this.call;
    const text = services.json(item, { mostBytes: services.limits.answerBytes });
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#texts.length > 0 && this.#bytes + bytes > services.limits.pageBytes) return false;
    held.add(bytes);
    this.#texts.push(text);
    this.#bytes += bytes;
    return true;
  }

  get count(): number {
    return this.#texts.length;
  }

  /** The list as JSON. */
  get list(): string {
    return `[${this.#texts.join(",")}]`;
  }
}

/** A page of rows as an answer. */
export function pageAnswer(
  { services, held }: Pick<Call, "services" | "held">,
  items: readonly object[],
  headers: Record<string, string>,
): HeldAnswer {
  const text = services.json(items, { mostBytes: services.limits.answerBytes });
  held.add(Buffer.byteLength(text));
  return new HeldAnswer(text, headers);
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
