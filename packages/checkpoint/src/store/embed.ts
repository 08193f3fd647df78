/** Vectors for what is stored and what is looked for. */
import type { IndexConfig } from "@langchain/langgraph-checkpoint";
import { DeepwrightError } from "deepwright/errors";
import type { ItemVector } from "./store-service.ts";
import { textsAtPath } from "./text-at-path.ts";

/** A value to be embedded; `fields` are those of the index unless the put named its own. */
export interface Embeddable {
  readonly value: unknown;
  readonly fields: readonly string[];
}

/** The vectors of each value, in order. The same text is embedded once. */
export async function embedValues(
  index: IndexConfig,
  values: readonly Embeddable[],
): Promise<readonly ItemVector[][]> {
  const texts = values.map(({ value, fields }) => fields.flatMap((field) => namedTexts(value, field)));
  const unique = [...new Set(texts.flat().map(({ text }) => text))];
  if (unique.length === 0) return values.map(() => []);
  const embedded = await index.embeddings.embedDocuments(unique);
  const vectors = new Map(unique.map((text, place) => [text, checkedVector(index, embedded[place])]));
  return texts.map((named) => named.map(({ field, text }) => ({ field, vector: vectors.get(text)! })));
}

export async function embedQueries(
  index: IndexConfig,
  queries: readonly string[],
): Promise<ReadonlyMap<string, Float32Array>> {
  const unique = [...new Set(queries)];
  const vectors = await Promise.all(unique.map((query) => index.embeddings.embedQuery(query)));
  return new Map(unique.map((query, place) => [query, checkedVector(index, vectors[place])]));
}

function namedTexts(value: unknown, field: string): { field: string; text: string }[] {
  const texts = textsAtPath(value, field);
  return texts.map((text, place) => ({ field: texts.length > 1 ? `${field}.${place}` : field, text }));
}

function checkedVector({ dims }: IndexConfig, vector: readonly number[] | undefined): Float32Array {
  if (vector?.length === dims) return Float32Array.from(vector);
  throw new DeepwrightError(
    "INVALID_OPTION",
    `The store's index expects vectors of ${dims} numbers, and the embeddings gave ${vector?.length ?? "none"}.`,
    { hint: "Set `index.dims` to the length of the model's vectors." },
  );
}
