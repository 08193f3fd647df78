/** Lets an agent hand tasks to others: the tool `task`, and a few words about it. */
import type { AgentMiddleware } from "langchain";
import { ConfigurationError } from "../errors.ts";
import { TEAM } from "../internal-symbols.ts";
import { mayAskByOptions } from "../loop/approval-rules/approval-policy.ts";
import { type Loop, mustAskPeople } from "../loop/contract/loop.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { AgentGraph } from "../loop/graph/agent-graph.ts";
import type { LoopSpec } from "../loop/graph/build.ts";
import { requireApprovals } from "../loop/graph/require-approval.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { type CompiledSubAgent, isCompiled, type LocalSubAgent } from "../subagents/spec.ts";
import type { Team } from "../subagents/team.ts";
import { TASK_SYSTEM_PROMPT, TASK_TOOL } from "../subagents/words.ts";
import { createTaskTool } from "../tools/task.ts";

export const SUBAGENT_MIDDLEWARE = "subAgentMiddleware";

export interface WithTeam {
  readonly [TEAM]?: Team;
}

export interface DelegationOptions {
  readonly team: Team;
  /** Replaces our section of the system prompt; `""` removes it. */
  readonly systemPrompt?: string | undefined;
  readonly taskDescription?: string | undefined;
}

/** An agent without subagents gets no tool for them. */
export function delegationMiddleware(options: DelegationOptions): AgentMiddleware & WithStages & WithTeam {
  const { team, systemPrompt = TASK_SYSTEM_PROMPT, taskDescription } = options;
  const middleware = builtInMiddleware({
    name: SUBAGENT_MIDDLEWARE,
    tools: team.members.length === 0 ? [] : [createTaskTool({ team, description: taskDescription })],
    stages: { prompt: (visible) => (visible.has(TASK_TOOL) ? systemPrompt : "") },
  });
  return { ...middleware, [TEAM]: team };
}

/** Gives each team of a loop the agent it works for. */
export function introduceTeams(loop: Loop, spec: LoopSpec): void {
  for (const middleware of loop.middleware) (middleware as WithTeam)[TEAM]?.worksFor({ loop, spec });
}

/**
 * Builds all children now, so that mistakes are reported before any is called. `why` is the reason for which every call
 * needs approval.
 */
export function buildTeams(loop: Loop, why: string): void {
  for (const middleware of loop.middleware) {
    const team = (middleware as WithTeam)[TEAM];
    for (const member of team?.members ?? []) {
      if (isCompiled(member)) refuseCompiled(member, why);
      team?.runnable(member);
    }
  }
}

/** Calls of a compiled graph are visible only if it is one of ours. */
function refuseCompiled({ name, runnable }: CompiledSubAgent, why: string): void {
  if (runnable instanceof AgentGraph) {
    requireApprovals(runnable.loop.tools, runnable.loop.approvals, why);
    return;
  }
  throw new ConfigurationError(
    "INVALID_OPTION",
    `Every call of this agent needs approval, because ${why}, and it cannot be seen what the compiled subagent '${name}' calls.`,
    { hint: "Declare the subagent, or leave it out." },
  );
}

/** Whether a person may be asked by an agent inside one with this middleware. */
export function teamsMayAsk(middleware: readonly object[]): boolean {
  return middleware.some((one) => {
    const team = (one as WithTeam)[TEAM];
    return team !== undefined && (team.mayAsk || team.members.some(memberMayAsk));
  });
}

function memberMayAsk(member: LocalSubAgent): boolean {
  if (!isCompiled(member)) return mayAskByOptions(member) || teamsMayAsk(member.middleware ?? []);
  const { runnable } = member;
  return runnable instanceof AgentGraph && (mustAskPeople(runnable.loop) || runnable.loop.asksInside);
}

export function subAgentsOf(loop: Loop): readonly LocalSubAgent[] {
  return loop.middleware.flatMap((middleware) => (middleware as WithTeam)[TEAM]?.members ?? []);
}
