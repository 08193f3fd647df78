/** Query parameters: text that means numbers, flags and lists, as `means` says for a reference. */
import { z } from "zod";

/** A parsed query: a name given once is text, one given again a list of texts. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/** Reads a query so that its schema can be asked about it. A name like `__proto__` is a name like any other. */
export function readQuery(parameters: URLSearchParams): Query {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of parameters) {
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else query[name] = [before, value];
  }
  return query;
}

/** A whole number in digits. */
export function wholeNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,10}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta({ means: { type: "integer", minimum, maximum } });
}

/** `1` and `true`, `0` and `false`. */
export const flag = z
  .enum(["1", "0", "true", "false"])
  .transform((text) => text === "1" || text === "true")
  .meta({ means: { type: "boolean" } });

/** LangGraph's SDK writes a list as JSON. */
function textsIn(given: string): unknown {
  if (!given.startsWith("[")) return given.split(",");
  try {
    return JSON.parse(given);
  } catch {
    return given.split(",");
  }
}

/** Given once, several times, once with commas, or once as a list in JSON. */
export function listOf<Item extends z.ZodType<unknown, string>>(item: Item) {
  return z
    .union([z.string(), z.array(z.string()).max(64)])
    .transform((given) => (typeof given === "string" ? textsIn(given) : given))
    .pipe(z.array(z.string()).max(64))
    .pipe(z.array(item))
    .meta({ means: { type: "array", items: item } });
}

export const pageQuery = {
  limit: wholeNumber(1, 1000).default(10).describe("How many at most."),
  offset: wholeNumber(0, 1_000_000_000).default(0).describe("How many are left out before the first."),
};
