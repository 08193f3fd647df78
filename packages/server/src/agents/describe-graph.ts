/** Describes an agent for clients: the schemas of its state and the drawing of its graph. */
import { getJsonSchemaFromSchema } from "@langchain/langgraph";
import { publicKeys } from "../runs/thread-view.ts";
import type { AnyGraph } from "./graph-types.ts";

export interface GraphSchemas {
  readonly graph_id: string;
  readonly input_schema: object | null;
  readonly output_schema: object | null;
  readonly state_schema: object | null;
  readonly config_schema: object | null;
  readonly context_schema: object | null;
}

/** Null for a graph that was built without that schema. */
export function schemasOf(graphId: string, graph: AnyGraph): GraphSchemas {
  const keys = graph as { inputChannels?: unknown; outputChannels?: unknown; streamChannels?: unknown };
  const builder = (graph as { builder?: Record<string, unknown> }).builder ?? {};
  const { contextSchema } = graph as { contextSchema?: unknown };
  const isPublic = publicKeys(graph);
  const shape = (schema: unknown, names: unknown): object | null =>
    withoutPrivate(asJson(schema) ?? namesOnly(names), isPublic);
  return {
    graph_id: graphId,
    input_schema: shape(builder._inputRuntimeDefinition, inputNames(builder, keys.inputChannels)),
    output_schema: shape(builder._outputRuntimeDefinition, keys.outputChannels),
    state_schema: shape(builder._schemaRuntimeDefinition, keys.streamChannels),
    config_schema: asJson(builder._configRuntimeSchema),
    context_schema: asJson(contextSchema ?? builder._configRuntimeSchema),
  };
}

interface Drawing {
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
}

/** Nodes and edges; `xray` draws the graphs inside, so many levels deep, and the subagents that the tools start. */
export async function drawingOf(graph: AnyGraph, xray?: boolean | number): Promise<object> {
  const drawn = (await graph.getGraphAsync({ xray } as never)).toJSON() as Drawing;
  const names = xray ? subagentNames(graph) : [];
  return {
    nodes: [...drawn.nodes, ...names.map(subagentNode)],
    edges: [...drawn.edges, ...names.flatMap(subagentEdges)],
  };
}

/** Subagents are started by a tool, so the graph has no node for them. */
function subagentNames(graph: AnyGraph): readonly string[] {
  const { describe } = graph as { describe?(): { readonly subagents?: readonly { name: string }[] } };
  return describe?.call(graph).subagents?.map(({ name }) => name) ?? [];
}

const subagentId = (name: string): string => `tools:${name}`;

const subagentNode = (name: string): object => ({
  id: subagentId(name),
  type: "runnable",
  data: { id: ["deepwright", "Subagent"], name },
});

const subagentEdges = (name: string): object[] => [
  { source: "tools", target: subagentId(name), conditional: true },
  { source: subagentId(name), target: "tools", conditional: false },
];

/** The graphs inside, by namespace. */
export async function subgraphsOf(
  graph: AnyGraph,
  { namespace, recurse }: { readonly namespace?: string; readonly recurse?: boolean } = {},
): Promise<Record<string, GraphSchemas>> {
  const found: Record<string, GraphSchemas> = {};
  for await (const [name, inner] of graph.getSubgraphsAsync(namespace, recurse))
    found[name] = schemasOf(name, inner as AnyGraph);
  return found;
}

/** Private keys of the agent, and keys that begin with `_`, are in no answer, so they are in no schema either. */
function withoutPrivate(schema: object | null, isPublic: (key: string) => boolean): object | null {
  const { properties, required } = (schema ?? {}) as { properties?: object; required?: readonly string[] };
  if (properties === undefined) return schema;
  const isShown = (key: string) => isPublic(key) && !key.startsWith("_");
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => isShown(key))),
    ...(required && { required: required.filter(isShown) }),
  };
}

function inputNames(builder: Record<string, unknown>, channels: unknown): unknown {
  const { _inputDefinition: definition } = builder;
  return typeof definition === "object" && definition !== null ? Object.keys(definition) : channels;
}

function namesOnly(names: unknown): object | null {
  const list = (Array.isArray(names) ? names : [names]).filter(
    (name): name is string =>
      typeof name === "string" && !name.startsWith("__") && !name.startsWith("branch:"),
  );
  if (list.length === 0) return null;
  return { type: "object", properties: Object.fromEntries(list.map((name) => [name, {}])) };
}

function asJson(schema: unknown): object | null {
  if (typeof schema !== "object" || schema === null) return null;
  try {
    return (getJsonSchemaFromSchema(schema as never) as object | undefined) ?? null;
  } catch {
    // A shape JSON schema has no words for.
    return null;
  }
}
