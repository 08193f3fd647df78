/** The default assistant of each agent of the server. */
import { createHash } from "node:crypto";
import type { Assistant } from "@deepwright/protocol";

/** LangGraph's servers name their default assistants in this namespace: ids stay when a deployment changes over. */
const NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export const assistantIdOf = (graphId: string): string => nameId(graphId);

/** UUID version 5 of a name: the same on every machine. */
export function nameId(name: string): string {
  const hash = createHash("sha1")
    .update(Buffer.from(NAMESPACE.replaceAll("-", ""), "hex"))
    .update(name);
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function defaultAssistant(graphId: string, createdAt: string): Assistant {
  return {
    assistant_id: assistantIdOf(graphId),
    graph_id: graphId,
    name: graphId,
    description: null,
    config: {},
    context: {},
    metadata: { created_by: "system" },
    version: 1,
    created_at: createdAt,
    updated_at: createdAt,
  };
}
