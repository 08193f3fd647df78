/** Separates the stored data of callers on a server with many of them. */
import type { Assistant } from "@deepwright/protocol";
import { assistantIdOf, nameId } from "../agents/default-assistant.ts";
import type { Owner } from "../records/records.ts";

/** The one owner on a server with one token: there are no others to be kept from. No caller of `authenticate` is called so. */
export const LOCAL_OWNER: Owner = "local";

/** First parts that stores refuse, that mean any, or under which approvals lie. */
const TAKEN = new Set(["*", "__proto__", "langgraph", "approvals"]);

/**
 * The first part of a caller's namespaces. Two callers never share it, whatever their names are. Periods, which stores
 * forbid, are spelled as `StoreBackend` spells them.
 */
export function tenantLabel(identity: string): string {
  const label = identity.toWellFormed().replaceAll(/[%.]/g, escaped);
  return TAKEN.has(label) ? `${escaped(label.charAt(0))}${label.slice(1)}` : label;
}

function escaped(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

/**
 * Scope of an agent's stored data, the same in every process that executes the run. Callers choose the ids of their
 * assistants, and two may choose the same one; so agents get ids that cannot be chosen.
 */
export function agentScope(
  owner: Owner,
  { assistant_id: id, graph_id: graph }: Pick<Assistant, "assistant_id" | "graph_id">,
): { readonly assistantId: string; readonly tenant?: string } {
  if (owner === LOCAL_OWNER) return { assistantId: id };
  const isServers = id === assistantIdOf(graph);
  const assistantId = isServers ? id : `~${nameId(JSON.stringify([owner, id]))}`;
  return { assistantId, tenant: tenantLabel(owner) };
}
