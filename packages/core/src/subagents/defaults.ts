/** Defaults that the children of an agent inherit. */
import type { SystemMessage } from "@langchain/core/messages";
import type { BackendSource } from "../backends/resolve.ts";
import type { InterruptOn } from "../loop/approval-rules/approval-policy.ts";
import type { PermissionList } from "../permissions/rules.ts";
import type { LocalSubAgent, SubAgent } from "./spec.ts";
import { GENERAL_PURPOSE_NAME, GENERAL_PURPOSE_SUBAGENT } from "./words.ts";

/** Untrusted memory and skills: the model reads them as data, outside the system prompt. */
export interface UntrustedSources {
  /** Paths of memory files, or a function of a path and the text there. */
  readonly memory?: readonly string[] | ((path: string, text: string) => boolean) | null;
  /** Directories of skills, or a function of one. */
  readonly skills?: readonly string[] | ((source: string) => boolean | Promise<boolean>) | null;
}

export interface ChildDefaults {
  readonly model?: unknown;
  readonly tools?: readonly unknown[] | undefined;
  readonly backend?: BackendSource | undefined;
  readonly interruptOn?: InterruptOn | undefined;
  readonly permissions?: PermissionList | undefined;
  /** Taken over by the general-purpose subagent alone. */
  readonly skills?: readonly string[] | undefined;
  readonly untrusted?: UntrustedSources | undefined;
  readonly stateSchema?: unknown;
  readonly toolTimeout?: number | Readonly<Record<string, number>> | undefined;
  readonly toolConcurrency?: number | Readonly<Record<string, number>> | undefined;
  /** The agent's own profile. A child's model brings the profile for its name. */
  readonly profile?: unknown;
  /** Names of built-in middleware the agent does without, in lower case: its children have none of it either. */
  readonly off?: ReadonlySet<string> | undefined;
  /** In every child, before its own. */
  readonly middleware?: readonly object[] | undefined;
  /** The same for the general-purpose subagent. */
  readonly generalPurposeMiddleware?: readonly object[] | undefined;
  /** For forks in a loop that does not show its prompt. */
  readonly systemPrompt?: string | SystemMessage | undefined;
}

export interface GeneralPurposeOptions {
  readonly enabled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly systemPrompt?: string | undefined;
}

/** Delegation options of an agent, besides the defaults of its children. */
export interface AgentDelegation {
  readonly subagents?: readonly LocalSubAgent[] | undefined;
  readonly generalPurpose?: GeneralPurposeOptions | undefined;
}

/** The given subagents, and the general-purpose one unless one of its name is among them or it is not wanted. */
export function withGeneralPurpose(
  given: readonly LocalSubAgent[],
  { enabled = true, name = GENERAL_PURPOSE_NAME, description, systemPrompt }: GeneralPurposeOptions = {},
): readonly LocalSubAgent[] {
  if (!enabled || given.some((subAgent) => subAgent.name === name)) return given;
  const general: SubAgent = {
    ...GENERAL_PURPOSE_SUBAGENT,
    name,
    ...(description !== undefined && { description }),
    ...(systemPrompt !== undefined && { systemPrompt }),
  };
  generals.add(general);
  return [general, ...given];
}

const generals = new WeakSet<object>();

/** The built-in general-purpose subagent under any name, or the user's replacement for it. */
export function isGeneralPurpose(subAgent: SubAgent): boolean {
  return generals.has(subAgent) || subAgent.name === GENERAL_PURPOSE_NAME;
}
