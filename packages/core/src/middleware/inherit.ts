import type { AgentMiddleware } from "langchain";
import type { BackendFactory, BackendProtocol } from "../backends/backend.ts";

/**
 * How our own middleware takes over what the agent was given: called with the agent's options when a
 * user passes such a middleware to replace a built-in one, it answers with one whose unset options
 * are the agent's.
 */
export const INHERIT: unique symbol = Symbol.for("deepwright.inherit") as never;

export interface AgentDefaults {
  readonly backend?: BackendProtocol | BackendFactory;
}

export interface WithInheritance {
  readonly [INHERIT]?: (defaults: AgentDefaults) => AgentMiddleware;
}
