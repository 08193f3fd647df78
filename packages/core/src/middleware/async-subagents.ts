/** Lets an agent have work done in the background: five tools, a channel for the tasks, and the news of their ends. */
import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { checkKind, checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import type { AsyncTasksValue } from "../subagents/async/async-task.ts";
import { AsyncTeam } from "../subagents/async/async-team.ts";
import { checkGraphs, type GraphSources } from "../subagents/async/graphs.ts";
import { tasksChannel } from "../subagents/async/remote-tasks.ts";
import { acknowledgeMail, takeMail } from "../subagents/async/take-mail.ts";
import { ASYNC_TASK_SYSTEM_PROMPT, CHECK_TOOL, LIST_TOOL, START_TOOL } from "../subagents/async/words.ts";
import { type BackgroundSubAgent, checkedSubAgents } from "../subagents/spec.ts";
import { createCancelAsyncTaskTool } from "../tools/cancel-async-task.ts";
import { createCheckAsyncTaskTool } from "../tools/check-async-task.ts";
import { createListAsyncTasksTool } from "../tools/list-async-tasks.ts";
import { createStartAsyncTaskTool } from "../tools/start-async-task.ts";
import { createUpdateAsyncTaskTool } from "../tools/update-async-task.ts";

export const ASYNC_SUBAGENT_MIDDLEWARE = "asyncSubAgentMiddleware";

/** null means absent. */
export interface AsyncSubAgentMiddlewareOptions {
  /** At least one. */
  readonly asyncSubAgents: readonly BackgroundSubAgent[];
  /** Replaces our section of the system prompt; `""` removes it. */
  readonly systemPrompt?: string | null;
  /** Agents of this process by `graphId`, besides those of `registerGraph`. */
  readonly asyncAgents?: GraphSources | null;
}

export type AsyncSubAgentMiddleware = AgentMiddleware<StateSchema<{ asyncTasks: AsyncTasksValue }>> &
  WithStages;

const OPTION_NAMES = ["asyncSubAgents", "systemPrompt", "asyncAgents"];

export function createAsyncSubAgentMiddleware(
  options: AsyncSubAgentMiddlewareOptions,
): AsyncSubAgentMiddleware {
  checkNames("createAsyncSubAgentMiddleware", options, OPTION_NAMES);
  const { asyncSubAgents, systemPrompt, asyncAgents } = options ?? {};
  checkKind("string", { systemPrompt });
  if (!Array.isArray(asyncSubAgents) || asyncSubAgents.length === 0)
    throw new ConfigurationError("INVALID_OPTION", "createAsyncSubAgentMiddleware needs 'asyncSubAgents'.", {
      hint: "For example [{name, description, graphId}].",
    });
  const background: BackgroundSubAgent[] = [];
  const [other] = checkedSubAgents(asyncSubAgents, (subAgent) => background.push(subAgent));
  if (other !== undefined)
    throw new ConfigurationError(
      "INVALID_OPTION",
      `The subagent '${other.name}' has no 'graphId' and no 'a2a'.`,
      {
        hint: "Put other subagents into createSubAgentMiddleware.",
      },
    );
  return asyncDelegation(background, checkGraphs("asyncAgents", asyncAgents), systemPrompt ?? undefined);
}

/** Checks the subagents, except for their own fields. */
export function asyncDelegation(
  subAgents: readonly BackgroundSubAgent[],
  graphs: GraphSources,
  systemPrompt: string = ASYNC_TASK_SYSTEM_PROMPT,
): AsyncSubAgentMiddleware {
  const team = new AsyncTeam(subAgents, graphs);
  return builtInMiddleware({
    name: ASYNC_SUBAGENT_MIDDLEWARE,
    stateSchema: new StateSchema({ asyncTasks: tasksChannel(team) }),
    tools: [
      createStartAsyncTaskTool(team),
      createCheckAsyncTaskTool(team),
      createUpdateAsyncTaskTool(team),
      createCancelAsyncTaskTool(team),
      createListAsyncTasksTool(team),
    ],
    beforeModel: ((state: Record<string, unknown>, { configurable }: Runtime) =>
      takeMail(team, state, configurable)) as never,
    afterAgent: (async (state: Record<string, unknown>, { configurable }: Runtime) =>
      acknowledgeMail(state, configurable)) as never,
    stages: { prompt: (visible) => (SPOKEN_OF.every((name) => visible.has(name)) ? systemPrompt : "") },
  }) as AsyncSubAgentMiddleware;
}

/** Agents that lack one of these tools get no section about them. */
const SPOKEN_OF = [START_TOOL, CHECK_TOOL, LIST_TOOL];

interface Runtime {
  readonly configurable?: Record<string, unknown>;
}
