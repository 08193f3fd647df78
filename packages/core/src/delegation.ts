/** The public ways to delegate: the middleware by itself, and a child by itself. */

import type { SystemMessage } from "@langchain/core/messages";
import type { AgentMiddleware } from "langchain";
import { checkKind, checkNames } from "./check-options.ts";
import { childBuilder } from "./child-agent.ts";
import { ConfigurationError } from "./errors.ts";
import { INHERIT } from "./internal-symbols.ts";
import { approvalPolicy, type InterruptOn, mayAskByOptions } from "./loop/approval-rules/approval-policy.ts";
import type { WithStages } from "./loop/contract/stages.ts";
import type { AgentGraph } from "./loop/graph/agent-graph.ts";
import { asyncDelegation } from "./middleware/async-subagents.ts";
import type { AgentDefaults, WithInheritance } from "./middleware/inherit.ts";
import { delegationMiddleware, teamsMayAsk, type WithTeam } from "./middleware/subagents.ts";
import { guardBackend } from "./permissions/guard.ts";
import { checkGraphs } from "./subagents/async/graphs.ts";
import { type AgentDelegation, type ChildDefaults, withGeneralPurpose } from "./subagents/defaults.ts";
import {
  type BackgroundSubAgent,
  checkedSubAgents,
  inSubAgent,
  isCompiled,
  type LocalSubAgent,
  type SubAgent,
} from "./subagents/spec.ts";
import { Team } from "./subagents/team.ts";

/** null means absent. What is unset is the agent's, in an agent of `createDeepAgent`. */
export interface SubAgentMiddlewareOptions {
  readonly defaultModel?: string | { invoke: (...args: never[]) => unknown } | null;
  readonly defaultTools?: readonly object[] | null;
  /** In every child, before its own. */
  readonly defaultMiddleware?: readonly object[] | null;
  /** The same for the general-purpose subagent; absent: `defaultMiddleware`. */
  readonly generalPurposeMiddleware?: readonly object[] | null;
  readonly defaultInterruptOn?: InterruptOn | null;
  readonly subagents?: readonly LocalSubAgent[] | null;
  /** Replaces our section of the system prompt; `""` removes it. */
  readonly systemPrompt?: string | null;
  /** Whether there is a general-purpose subagent; default true. */
  readonly generalPurposeAgent?: boolean | null;
  /** Replaces the description of `task`; `{available_agents}` in it stands for the list of subagents. */
  readonly taskDescription?: string | null;
  /** Beginning of a fork's prompt, in a loop that does not show its own. */
  readonly parentSystemPrompt?: string | SystemMessage | null;
}

export type SubAgentMiddleware = AgentMiddleware & WithStages & WithInheritance & WithTeam;

const OPTION_NAMES = [
  ...["defaultModel", "defaultTools", "defaultMiddleware", "generalPurposeMiddleware", "defaultInterruptOn"],
  ...["subagents", "systemPrompt", "generalPurposeAgent", "taskDescription", "parentSystemPrompt"],
];

export function createSubAgentMiddleware(given?: SubAgentMiddlewareOptions | null): SubAgentMiddleware {
  const options = given ?? {};
  checkNames("createSubAgentMiddleware", options, OPTION_NAMES);
  const { systemPrompt, generalPurposeAgent, taskDescription } = options;
  checkKind("string", { systemPrompt, taskDescription });
  checkKind("boolean", { generalPurposeAgent });
  for (const name of ["subagents", "defaultTools", "defaultMiddleware", "generalPurposeMiddleware"] as const)
    if (options[name] != null && !Array.isArray(options[name]))
      throw new ConfigurationError("INVALID_OPTION", `The option '${name}' must be a list.`);
  approvalPolicy(options.defaultInterruptOn);
  return {
    ...delegation(options, {}),
    [INHERIT]: ({ children, delegation: agents }: AgentDefaults) =>
      delegation(options, children ?? {}, agents),
  };
}

function delegation(
  options: SubAgentMiddlewareOptions,
  inherited: ChildDefaults,
  agent: AgentDelegation = {},
): AgentMiddleware & WithStages & WithTeam {
  const defaults: ChildDefaults = {
    ...inherited,
    ...(options.defaultModel != null && { model: options.defaultModel }),
    ...(options.defaultTools != null && { tools: options.defaultTools }),
    ...(options.defaultMiddleware != null && { middleware: options.defaultMiddleware }),
    ...(options.generalPurposeMiddleware != null && {
      generalPurposeMiddleware: options.generalPurposeMiddleware,
    }),
    ...(options.defaultInterruptOn != null && { interruptOn: options.defaultInterruptOn }),
    ...(options.parentSystemPrompt != null && { systemPrompt: options.parentSystemPrompt }),
  };
  const given = options.subagents == null ? (agent.subagents ?? []) : checkedSubAgents(options.subagents);
  for (const subAgent of given) checkPermitted(subAgent, defaults);
  const enabled = options.generalPurposeAgent ?? agent.generalPurpose?.enabled;
  const members = withGeneralPurpose(given, { ...agent.generalPurpose, enabled });
  return delegationMiddleware({
    team: new Team({ members, build: childBuilder(defaults), mayAsk: mayAllAsk(options) }),
    systemPrompt: options.systemPrompt ?? undefined,
    taskDescription: options.taskDescription ?? undefined,
  });
}

function mayAllAsk({
  defaultInterruptOn,
  defaultMiddleware,
  generalPurposeMiddleware,
}: SubAgentMiddlewareOptions): boolean {
  const inAll = [...(defaultMiddleware ?? []), ...(generalPurposeMiddleware ?? [])];
  return mayAskByOptions({ interruptOn: defaultInterruptOn }) || teamsMayAsk(inAll);
}

/** Children are built when they are called: that their permissions would not hold is said before. */
function checkPermitted(subAgent: LocalSubAgent, { backend }: ChildDefaults): void {
  if (isCompiled(subAgent) || backend == null) return;
  inSubAgent(subAgent.name, () => guardBackend(backend, subAgent.permissions));
}

/** The middleware of an agent that was given subagents, not a middleware for them. */
export function agentDelegation(agent: AgentDelegation, children: ChildDefaults): AgentMiddleware {
  return delegation({}, children, agent);
}

/** The same for its async subagents; undefined when it has none. */
export function agentAsyncDelegation(
  subAgents: readonly BackgroundSubAgent[],
  asyncAgents: unknown,
): AgentMiddleware | undefined {
  const graphs = checkGraphs("asyncAgents", asyncAgents);
  return subAgents.length === 0 ? undefined : (asyncDelegation(subAgents, graphs) as AgentMiddleware);
}

/** A subagent as an agent of its own, to be run or handed on; it needs a model. */
export function createSubAgent(
  spec: SubAgent,
  options: { readonly responseFormat?: unknown } = {},
): AgentGraph {
  const [subAgent] = checkedSubAgents([spec]) as readonly [SubAgent];
  if ("runnable" in subAgent)
    throw new ConfigurationError("INVALID_OPTION", `The subagent '${subAgent.name}' is compiled already.`);
  return childBuilder({})(subAgent, undefined, options.responseFormat) as AgentGraph;
}
