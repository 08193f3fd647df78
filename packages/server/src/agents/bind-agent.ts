/**
 * An agent with the saver and the store of the server.
 *
 * A compiled graph has both as plain fields, and `withConfig` makes a copy with all fields of derived classes. The copy
 * gets the field that the agent was built without. The caller's agent does not change, and its own saver and store win.
 */
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph";
import { ConfigurationError } from "deepwright";
import { putInOrder } from "deepwright/internal";
import type { AnyGraph } from "./graph-types.ts";

export interface AgentStorage {
  readonly saver: BaseCheckpointSaver;
  readonly store?: BaseStore | undefined;
  /** Seconds a claim on a thread lives without being renewed. */
  readonly claimTtl?: number | undefined;
}

/** Takes compiled graphs, agents that have one as `graph`, and graphs that can be compiled. */
export function bindAgent(name: string, given: unknown, { saver, store, claimTtl }: AgentStorage): AnyGraph {
  const bound = compiled(name, given).withConfig({}) as AnyGraph & { threadClaim?: unknown };
  if (bound.checkpointer === undefined || bound.checkpointer === null || bound.checkpointer === true)
    bound.checkpointer = saver;
  if (bound.store === undefined) bound.store = store;
  // Agents of ours are so by themselves.
  if (!("loop" in bound)) putInOrder(bound);
  // Updates of the state do not come between the steps of a run: they are refused while one has the thread.
  if ("loop" in bound && bound.checkpointer === saver && "claimThread" in saver)
    bound.threadClaim ??= { mode: "refuse", ...(claimTtl !== undefined && { ttl: claimTtl }) };
  return bound;
}

interface Shapes {
  readonly graph?: unknown;
  readonly compile?: () => unknown;
  readonly stream?: unknown;
  readonly getState?: unknown;
}

function compiled(name: string, given: unknown): AnyGraph {
  const { graph, compile } = (given ?? {}) as Shapes;
  const inner =
    graph ?? (typeof compile === "function" ? (given as { compile(): unknown }).compile() : given);
  const { stream, getState } = (inner ?? {}) as Shapes;
  if (typeof stream !== "function" || typeof getState !== "function")
    throw new ConfigurationError("INVALID_OPTION", `The agent '${name}' is not an agent or a graph.`, {
      hint: "Give what createDeepAgent or compile() returns, or a function that returns it.",
    });
  return inner as AnyGraph;
}
