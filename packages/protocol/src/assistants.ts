/** Assistants: an agent of the server with settings of its own. */
import { z } from "zod";
import { filter, identifier, ifExists, metadata, moment, page, selectOf, sortOrder } from "./ids.ts";
import { flag, wholeNumber } from "./query.ts";

/** Settings of a client for how a graph is run; the server refuses keys of the engine. */
export const runConfig = z.object({
  tags: z.array(z.string()).optional().describe("For traces."),
  recursion_limit: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Supersteps after which LangGraph gives up."),
  configurable: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "Your own keys. Those of the engine, such as `checkpoint_ns` and what begins with `__`, are refused.",
    ),
});
export type RunConfig = z.infer<typeof runConfig>;

export const assistant = z.object({
  assistant_id: identifier,
  graph_id: z.string().describe("The name of an agent of the server."),
  name: z.string(),
  description: z.string().nullish(),
  config: runConfig,
  context: z.unknown().describe("What its runs get as `context`, unless they bring their own."),
  metadata,
  version: z.number().int().describe("Grows by one with each change; from 1."),
  created_at: moment,
  updated_at: moment,
});
export type Assistant = z.infer<typeof assistant>;

/** A version as it was: the same fields, without the time of a later change where a server does not say it. */
export const assistantVersion = assistant.partial({ updated_at: true });
export type AssistantVersion = z.infer<typeof assistantVersion>;

export const createAssistant = z.object({
  assistant_id: identifier.nullish().describe("Absent: the server makes one."),
  graph_id: z.string().min(1).max(256).describe("The name of an agent of the server."),
  name: z.string().max(256).nullish(),
  description: z.string().max(4096).nullish(),
  config: runConfig.nullish(),
  context: z.unknown().optional().describe("What its runs get as `context`, unless they bring their own."),
  metadata: metadata.nullish(),
  if_exists: ifExists.nullish(),
});
export type CreateAssistant = z.infer<typeof createAssistant>;

export const updateAssistant = createAssistant.omit({ assistant_id: true, if_exists: true }).partial();
export type UpdateAssistant = z.infer<typeof updateAssistant>;

const assistantFilter = {
  graph_id: z.string().max(256).nullish(),
  name: z.string().max(256).nullish(),
  metadata: filter.nullish().describe("Those that have these names with these values."),
};

export const assistantField = z.enum([
  "assistant_id",
  "graph_id",
  "name",
  "description",
  "config",
  "context",
  "created_at",
  "updated_at",
  "metadata",
  "version",
]);

/** The header `X-Pagination-Next` of the answer is the `offset` of the next page; absent on the last. */
export const searchAssistants = z.object({
  ...page,
  ...assistantFilter,
  sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).nullish(),
  sort_order: sortOrder.nullish(),
  select: selectOf(assistantField),
});
export type SearchAssistants = z.infer<typeof searchAssistants>;

export const countAssistants = z.object(assistantFilter);
export type CountAssistants = z.infer<typeof countAssistants>;

export const listAssistantVersions = z.object({ ...page, metadata: filter.nullish() });
export type ListAssistantVersions = z.infer<typeof listAssistantVersions>;

export const setLatestAssistant = z.object({ version: z.number().int().min(1) });
export type SetLatestAssistant = z.infer<typeof setLatestAssistant>;

export const deleteAssistantQuery = z.object({
  delete_threads: flag.default(false).describe("With it go the threads whose metadata name the assistant."),
});

export const assistantGraphQuery = z.object({
  xray: z
    .union([flag, wholeNumber(0, 100)])
    .default(false)
    .describe("Whether graphs inside graphs are drawn, or down to which depth."),
});

export const assistantGraph = z.object({
  nodes: z.array(
    z.object({
      id: z.union([z.string(), z.number()]),
      name: z.string().optional(),
      type: z.string().optional(),
      data: z.unknown().optional(),
      metadata: z.unknown().optional(),
    }),
  ),
  edges: z.array(
    z.object({
      source: z.string(),
      target: z.string(),
      data: z.string().nullish(),
      conditional: z.boolean().optional(),
    }),
  ),
});
export type AssistantGraph = z.infer<typeof assistantGraph>;

const jsonSchema = z.record(z.string(), z.unknown()).nullish();

/** JSON Schemas; an unknown one is absent or null. */
export const graphSchemas = z.object({
  graph_id: z.string().optional(),
  input_schema: jsonSchema,
  output_schema: jsonSchema,
  state_schema: jsonSchema,
  config_schema: jsonSchema,
  context_schema: jsonSchema,
});
export type GraphSchemas = z.infer<typeof graphSchemas>;

export const subgraphsQuery = z.object({
  recurse: flag.default(false).describe("Graphs inside those graphs, too."),
});

/** By namespace. */
export const subgraphs = z.record(z.string(), graphSchemas);
export type Subgraphs = z.infer<typeof subgraphs>;

const limit = z.number().nullable().describe("null: there is no such limit.");

/** null where an agent of another library does not say it, or nobody knows. */
export const agentFacts = z.object({
  model: z.string().nullable(),
  directory: z
    .string()
    .nullable()
    .describe("The directory that the agent works in, for the owner of the machine."),
  window: z.number().int().nullable().describe("Tokens that a request may have."),
  tokens: z
    .object({ instructions: z.number(), tools: z.number(), mcp_tools: z.number() })
    .nullable()
    .describe("Parts of each request, estimated."),
  price: z
    .object({ input: z.number(), output: z.number(), cache_read: z.number() })
    .nullable()
    .describe("Dollars per million tokens."),
  budget: z
    .object({
      max_tokens: limit,
      max_cost: limit,
      max_steps: limit,
      max_steps_per_agent: limit,
      max_seconds: limit,
    })
    .nullable()
    .describe("Limits of one run; null: usage is not counted."),
  choices: z
    .object({
      approval_modes: z.array(z.string()),
      approval_mode: z
        .string()
        .nullable()
        .describe("The mode of a run that names none; null: the agent has no modes."),
      models: z.array(z.object({ name: z.string(), is_priced: z.boolean() })),
      agent_kinds: z.array(z.string()).describe("The first is the kind of a run that names none."),
      budget: z.boolean(),
      rules: z
        .array(z.enum(["thread", "project"]))
        .describe("For how long calls can be allowed: `allow` of an answer, `approval_rules` of a run."),
    })
    .describe(
      "What a run may be begun with: `approval_mode`, `run_model`, `agent_kind` and `run_budget` in `config.configurable`.",
    ),
});
export type AgentFacts = z.infer<typeof agentFacts>;
