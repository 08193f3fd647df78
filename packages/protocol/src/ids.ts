/** How things are named and counted on the wire. */
import { z } from "zod";
import { IDENTIFIER } from "./identifier.ts";

/** Id of threads, runs, assistants, crons and checkpoints: a UUID, or a caller's choice without characters special in paths. */
export const identifier = z
  .string()
  .regex(IDENTIFIER, "must be 1 to 128 letters, digits, or . _ : @ - between them")
  .refine((id) => !id.includes(".."), "must not contain '..'")
  .meta({ format: "identifier" });

/** ISO 8601 with a zone. Ours are in UTC and end with `Z`. */
export const moment = z.iso.datetime({ offset: true });

export const metadata = z.record(z.string(), z.unknown());
export type Metadata = z.infer<typeof metadata>;

const FILTER_VALUES = 64;
const FILTER_DEPTH = 8;

/** A filter on JSON values. Bounded: it is compared with each of many things. */
export const filter = metadata.refine(
  (value) => valuesIn(value, FILTER_DEPTH) <= FILTER_VALUES,
  `must have at most ${FILTER_VALUES} values, nested at most ${FILTER_DEPTH} deep`,
);

/** Counts no further than is needed; infinite for what is nested deeper. */
function valuesIn(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 1;
  if (depth === 0) return Number.POSITIVE_INFINITY;
  let count = 0;
  for (const one of Object.values(value)) {
    count += valuesIn(one, depth - 1);
    if (count > FILTER_VALUES) return count;
  }
  return Math.max(1, count);
}

/** Fields of each item in the answer. */
export function selectOf<Names extends Readonly<Record<string, string>>>(field: z.ZodEnum<Names>) {
  return z.array(field).max(field.options.length).nullish().describe("Only these fields are in the answer.");
}

export const sortOrder = z.enum(["asc", "desc"]);
export type SortOrder = z.infer<typeof sortOrder>;

/** One page of a listing. */
export const page = {
  limit: z.number().int().min(1).max(1000).default(10).describe("How many at most."),
  offset: z
    .number()
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe("How many are left out before the first."),
};

/** How many there are; the whole body of an answer. */
export const count = z.number().int().min(0);

export const ifExists = z
  .enum(["raise", "do_nothing"])
  .describe("Whether a thing that has the id already is an error or the answer. Default `raise`.");
