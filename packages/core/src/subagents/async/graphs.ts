/** The agents of this process that async subagents can name. Two copies of the library share them. */
import { ConfigurationError } from "../../errors.ts";
import { graphOf } from "../run-child.ts";

/** An agent, a graph of LangGraph, or an agent around one. */
export interface BackgroundGraph {
  invoke(input: unknown, options?: unknown): Promise<unknown>;
}

/** A function is called at the first task; it may be asked again if it fails. */
export type GraphSource = BackgroundGraph | (() => BackgroundGraph | Promise<BackgroundGraph>);

export type GraphSources = Readonly<Record<string, GraphSource>>;

const REGISTRY = Symbol.for("deepwright.async-graphs.v1");

function registry(): Map<string, GraphSource> {
  const place = globalThis as { [REGISTRY]?: Map<string, GraphSource> };
  place[REGISTRY] ??= new Map();
  return place[REGISTRY];
}

/**
 * Lets async subagents without a `url` name this agent by `graphId: id`; a second one of an id takes the place of the
 * first, for tasks that start from then on. The returned function takes it out again.
 */
export function registerGraph(id: string, graph: GraphSource): () => void {
  if (typeof id !== "string" || id.trim() === "")
    throw new ConfigurationError("INVALID_OPTION", "registerGraph needs an id.");
  checkGraph(id, graph);
  registry().set(id, graph);
  return () => {
    if (registry().get(id) === graph) registry().delete(id);
  };
}

/** Graphs of an agent come before those of the process. */
export function findGraph(id: string, own: GraphSources): GraphSource | undefined {
  return Object.hasOwn(own, id) ? own[id] : registry().get(id);
}

export function graphIds(own: GraphSources): readonly string[] {
  return [...new Set([...Object.keys(own), ...registry().keys()])].toSorted();
}

export function checkGraphs(option: string, graphs: unknown): GraphSources {
  if (graphs === undefined || graphs === null) return {};
  if (typeof graphs !== "object" || Array.isArray(graphs))
    throw new ConfigurationError("INVALID_OPTION", `The option '${option}' must be an object of agents.`, {
      hint: "For example {researcher: createDeepAgent({...})}.",
    });
  for (const [id, graph] of Object.entries(graphs)) checkGraph(id, graph);
  return { ...graphs } as GraphSources;
}

export function checkGraph(id: string, graph: unknown): asserts graph is GraphSource {
  if (typeof graph === "function") return;
  if (typeof graph === "object" && graph !== null && graphOf(graph) !== undefined) return;
  throw new ConfigurationError("INVALID_OPTION", `What was given as the graph '${id}' is not an agent.`, {
    hint: "Give an agent of createDeepAgent, a graph of LangGraph, or a function that returns one.",
  });
}
