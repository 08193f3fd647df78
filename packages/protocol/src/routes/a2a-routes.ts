import { agentCard, agentCardQuery, rpcRequest } from "../commands/a2a.ts";
import { ids, type Route } from "./route.ts";

export const a2aRoutes = [
  {
    name: "a2a.card",
    method: "GET",
    path: "/.well-known/agent-card.json",
    summary: "Describes an agent to other agents, as A2A has it.",
    query: agentCardQuery,
    answer: agentCard,
    standard: true,
  },
  {
    name: "a2a.call",
    method: "POST",
    path: "/a2a/:assistant_id",
    summary: "Gives an agent a task, or asks for one, by the JSON-RPC of A2A.",
    parameters: ids("assistant_id"),
    body: rpcRequest,
    answer: "bytes",
    standard: true,
  },
] as const satisfies readonly Route[];
