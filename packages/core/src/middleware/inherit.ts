import type { AgentMiddleware } from "langchain";
import type { BackendFactory, BackendProtocol } from "../backends/backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { guardBackend } from "../permissions/guard.ts";
import type { Rules } from "../permissions/rules.ts";
import type { AgentDelegation, ChildDefaults, UntrustedSources } from "../subagents/defaults.ts";

/**
 * How our own middleware takes over what the agent was given: called with the agent's options when a
 * user passes such a middleware to replace a built-in one, it answers with one whose unset options
 * are the agent's.
 */
export const INHERIT: unique symbol = Symbol.for("deepwright.inherit") as never;

export interface AgentDefaults {
  /** Guarded by the permissions of the agent. */
  readonly backend?: BackendProtocol | BackendFactory;
  readonly permissions?: Rules | undefined;
  readonly untrusted?: UntrustedSources | undefined;
  /** What its subagents take over, and which it was given. */
  readonly children?: ChildDefaults | undefined;
  readonly delegation?: AgentDelegation | undefined;
}

export interface WithInheritance {
  readonly [INHERIT]?: (defaults: AgentDefaults) => AgentMiddleware;
}

/** The agent's backend, or the middleware's own under the agent's permissions: they cannot be left behind. */
export function inheritedBackend(
  own: BackendSource | null | undefined,
  { backend, permissions }: AgentDefaults,
): BackendSource | null {
  return own == null ? (backend ?? null) : guardBackend(own, permissions);
}
