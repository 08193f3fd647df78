/** The stream of a run without the runs inside it, where the engine does not keep them apart. */
import { isBaseMessage } from "@langchain/core/messages";

interface StreamOptions {
  readonly streamMode?: string | readonly string[];
  readonly subgraphs?: boolean;
  readonly version?: string;
}

/** The engine streams the tokens of inner runs also to callers that did not ask for subgraphs. */
export function includesChildTokens({ streamMode, subgraphs, version }: StreamOptions): boolean {
  return !subgraphs && version !== "v3" && [streamMode].flat().includes("messages");
}

export async function* withoutChildTokens<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) if (!isTokenOfChild(chunk)) yield chunk;
}

/** A chunk is the payload, or an array with the mode and the payload at its end. */
function isTokenOfChild(chunk: unknown): boolean {
  if (!Array.isArray(chunk)) return false;
  const [message, metadata] = chunk.at(-2) === "messages" ? (chunk.at(-1) as unknown[]) : chunk;
  if (!isBaseMessage(message)) return false;
  const { langgraph_checkpoint_ns: namespace } = (metadata ?? {}) as { langgraph_checkpoint_ns?: unknown };
  return typeof namespace === "string" && namespace.includes("|");
}

/**
 * Whether a part of a stream with subgraphs comes from the agent itself. Up to LangGraph 1.6 `ns` names the node of a
 * message, later the graph it ran in: only the metadata tell a node of the agent from a child.
 */
export function isFromAgent(ns: readonly string[], type: string, data: unknown): boolean {
  if (type === "messages") return ns.length <= 1 && !isTokenOfChild(data);
  return ns.length === 1 && ns[0] === "";
}
