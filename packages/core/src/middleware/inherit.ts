import type { AgentMiddleware } from "langchain";
import type { BackendFactory, BackendProtocol } from "../backends/backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { INHERIT } from "../internal-symbols.ts";
import { guardBackend } from "../permissions/guard.ts";
import type { Rules } from "../permissions/rules.ts";
import type { AgentDelegation, ChildDefaults, UntrustedSources } from "../subagents/defaults.ts";

export interface AgentDefaults {
  /** Guarded by the permissions of the agent. */
  readonly backend?: BackendProtocol | BackendFactory;
  readonly permissions?: Rules | undefined;
  readonly untrusted?: UntrustedSources | undefined;
  /** Defaults of its subagents, and the subagents it was given. */
  readonly children?: ChildDefaults | undefined;
  readonly delegation?: AgentDelegation | undefined;
}

/** Called for a user's middleware in place of a built-in one: it takes over the options that the user left unset. */
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
