/** The store: values that outlive threads. */
import { z } from "zod";

export const namespace = z.array(z.string().min(1).max(256)).max(32);

export const item = z.object({
  namespace: z.array(z.string()),
  key: z.string(),
  value: z.record(z.string(), z.unknown()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Item = z.infer<typeof item>;

export const putItem = z.object({
  namespace,
  key: z.string().min(1).max(1024),
  value: z.record(z.string(), z.unknown()),
  index: z.union([z.literal(false), z.array(z.string())]).nullish(),
  /** Minutes. */
  ttl: z.number().positive().nullish(),
});
export type PutItem = z.infer<typeof putItem>;

export const deleteItem = z.object({ namespace: namespace.optional(), key: z.string().min(1) });

export const searchItems = z.object({
  namespace_prefix: namespace,
  filter: z.record(z.string(), z.unknown()).nullish(),
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().min(0).default(0),
  query: z.string().nullish(),
  refresh_ttl: z.boolean().nullish(),
});
export type SearchItems = z.infer<typeof searchItems>;

export const listNamespaces = z.object({
  prefix: namespace.nullish(),
  suffix: namespace.nullish(),
  max_depth: z.number().int().min(1).nullish(),
  limit: z.number().int().min(1).max(1000).default(100),
  offset: z.number().int().min(0).default(0),
});
export type ListNamespaces = z.infer<typeof listNamespaces>;
