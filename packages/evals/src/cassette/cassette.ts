/** The format of cassettes: one thread with its requests as they were sent, its replies and its tool results. A segment is one run. */
import { z } from "zod";
import { EvalsError } from "../format/check-case.ts";

const call = z.strictObject({
  name: z.string(),
  args: z.unknown().optional(),
  rawArgs: z.string().optional(),
  id: z.string(),
});

const reply = z.strictObject({
  id: z.string().optional(),
  text: z.string(),
  calls: z.array(call),
  finishReason: z.string().optional(),
});

const segment = z.strictObject({
  /** Messages of the user. They begin a run. */
  messages: z.array(z.string()),
  replies: z.array(reply),
});

const result = z.strictObject({ name: z.string(), text: z.string(), failed: z.boolean() });

const request = z.strictObject({
  /** Hash of the parts. */
  key: z.string(),
  /** Name and hash of each part: tools, system prompt, messages. */
  parts: z.array(z.tuple([z.string(), z.string()])),
});

const cassetteSchema = z.strictObject({
  format: z.literal("deepwright-cassette"),
  version: z.literal(1),
  name: z.string(),
  /** ISO 8601. */
  recordedAt: z.string(),
  segments: z.array(segment).min(1),
  /** By the id of the call. */
  results: z.record(z.string(), result),
  /** In the order they were sent. */
  requests: z.array(request),
  /** Texts of the parts, by hash. */
  texts: z.record(z.string(), z.string()),
});

export type Cassette = z.infer<typeof cassetteSchema>;
export type RecordedReply = z.infer<typeof reply>;
export type RecordedRequest = z.infer<typeof request>;
export type RecordedResult = z.infer<typeof result>;
/** A thread without its requests. */
export type Tape = Pick<Cassette, "name" | "segments" | "results">;

/** Reads a cassette from its JSON text; `source` names it in errors. */
export function parseCassette(text: string, source: string): Cassette {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new EvalsError(`${source} is not a cassette: ${error.message}`);
  }
  const parsed = cassetteSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new EvalsError(`${source} is not a cassette of this version: ${problems.join("; ")}`);
}

export function cassetteText(cassette: Cassette): string {
  return `${JSON.stringify(cassette, null, 1)}\n`;
}
