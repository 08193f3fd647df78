/** Assistants: an agent of the server with settings of its own. */
import { z } from "zod";
import { identifier, metadata, moment, page, sortOrder } from "./ids.ts";

/** What a client may say about how a graph is run; keys of the engine are refused by the server. */
export const runConfig = z.object({
  tags: z.array(z.string()).optional(),
  recursion_limit: z.number().int().positive().optional(),
  configurable: z.record(z.string(), z.unknown()).optional(),
});
export type RunConfig = z.infer<typeof runConfig>;

export const assistant = z.object({
  assistant_id: identifier,
  graph_id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  config: runConfig,
  context: z.unknown(),
  metadata,
  /** Grows by one with each change; from 1. */
  version: z.number().int(),
  created_at: moment,
  updated_at: moment,
});
export type Assistant = z.infer<typeof assistant>;

export const createAssistant = z.object({
  assistant_id: identifier.optional(),
  graph_id: z.string(),
  name: z.string().max(256).optional(),
  description: z.string().max(4096).nullish(),
  config: runConfig.optional(),
  context: z.unknown().optional(),
  metadata: metadata.nullish(),
  if_exists: z.enum(["raise", "do_nothing"]).optional(),
});
export type CreateAssistant = z.infer<typeof createAssistant>;

export const updateAssistant = createAssistant.omit({ assistant_id: true, if_exists: true }).partial();
export type UpdateAssistant = z.infer<typeof updateAssistant>;

export const searchAssistants = z.object({
  ...page,
  graph_id: z.string().nullish(),
  name: z.string().nullish(),
  metadata: metadata.nullish(),
  sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).nullish(),
  sort_order: sortOrder.nullish(),
  select: z.array(z.string()).nullish(),
});
export type SearchAssistants = z.infer<typeof searchAssistants>;
