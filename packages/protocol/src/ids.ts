/** How things are named and counted on the wire. */
import { z } from "zod";

/** Of threads, runs, assistants, crons and checkpoints: a UUID, or what a caller chose; nothing that means something in a path. */
export const identifier = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._:@-]{0,126}[A-Za-z0-9])?$/,
    "must be 1 to 128 letters, digits, or . _ : @ - between them",
  )
  .refine((id) => !id.includes(".."), "must not contain '..'");

/** ISO 8601 with a zone. Ours are in UTC and end with `Z`. */
export const moment = z.iso.datetime({ offset: true });

export const metadata = z.record(z.string(), z.unknown());
export type Metadata = z.infer<typeof metadata>;

export const sortOrder = z.enum(["asc", "desc"]);
export type SortOrder = z.infer<typeof sortOrder>;

/** One page of a listing. */
export const page = {
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().min(0).max(1_000_000_000).default(0),
};

/** How many there are; the whole body of an answer. */
export const count = z.number().int().min(0);

/** Whether something with the id that was asked for is an error or the answer. */
export const ifExists = z.enum(["raise", "do_nothing"]);
