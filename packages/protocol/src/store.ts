/** The store: values that outlive threads. */
import { z } from "zod";
import { filter } from "./ids.ts";
import { flag } from "./query.ts";

const withoutControls = /^\P{Cc}+$/u;
const label = z.string().min(1).max(256).regex(withoutControls, "must not contain control characters");
const key = z.string().min(1).max(1024).regex(withoutControls, "must not contain control characters");

export const namespace = z.array(label).max(32);
export type Namespace = z.infer<typeof namespace>;

export const item = z.object({
  namespace: z.array(z.string()),
  key: z.string(),
  value: z.record(z.string(), z.unknown()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Item = z.infer<typeof item>;

export const putItem = z.object({
  namespace: namespace.min(1),
  key,
  value: z.record(z.string(), z.unknown()),
  index: z
    .union([z.literal(false), z.array(z.string().max(256)).max(64)])
    .nullish()
    .describe("Which fields a search by meaning looks at; false: none."),
  ttl: z.number().positive().nullish().describe("Without effect: items stay."),
});
export type PutItem = z.infer<typeof putItem>;

const namespaceText = z
  .string()
  .max(16_384)
  .transform((text, context) => {
    if (text === "") return [];
    if (!text.startsWith("[")) return text.split(".");
    try {
      return JSON.parse(text) as string[];
    } catch {
      context.addIssue("must be labels joined with '.', or a list of them as JSON");
      return z.NEVER;
    }
  })
  .pipe(namespace)
  .meta({ means: { type: "string" } })
  .describe("Labels joined with `.`, or a list as JSON where one of them contains a `.`.");

export function formatNamespace(labels: readonly string[]): string {
  const plain = labels.every((label) => !label.includes(".") && !label.startsWith("["));
  return plain ? labels.join(".") : JSON.stringify(labels);
}

export const getItemQuery = z.object({
  namespace: namespaceText.default([]),
  key,
  refresh_ttl: flag.optional().describe("Without effect."),
});
export type GetItemQuery = z.infer<typeof getItemQuery>;

export const deleteItem = z.object({ namespace: namespace.optional(), key });
export type DeleteItem = z.infer<typeof deleteItem>;

export const searchItems = z.object({
  namespace_prefix: namespace,
  filter: filter.nullish().describe("Items whose values have these fields."),
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().min(0).max(1_000_000_000).default(0),
  query: z.string().max(65_536).nullish().describe("Search by meaning, where the store can."),
  refresh_ttl: z.boolean().nullish().describe("Without effect."),
});
export type SearchItems = z.infer<typeof searchItems>;

export const foundItems = z.object({ items: z.array(item.extend({ score: z.number().nullish() })) });
export type FoundItems = z.infer<typeof foundItems>;

export const listNamespaces = z.object({
  prefix: namespace.nullish(),
  suffix: namespace.nullish(),
  max_depth: z.number().int().min(1).max(32).nullish(),
  limit: z.number().int().min(1).max(1000).default(100),
  offset: z.number().int().min(0).max(1_000_000_000).default(0),
});
export type ListNamespaces = z.infer<typeof listNamespaces>;

export const foundNamespaces = z.object({ namespaces: z.array(z.array(z.string())) });
export type FoundNamespaces = z.infer<typeof foundNamespaces>;
