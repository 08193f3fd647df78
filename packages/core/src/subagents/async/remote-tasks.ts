/** Finds the transport of background tasks from a compiled agent: for hosts that follow tasks without a run. */
import { graphOf } from "../run-child.ts";
import { type AsyncTasksValue, asyncTasksValue, mergeAsyncTasks } from "./async-task.ts";
import type { AsyncTeam } from "./async-team.ts";
import type { AsyncTransport } from "./transport.ts";

const TEAM = Symbol.for("deepwright.async-team.v1");

/** The channel of the tasks. A compiled graph keeps its reducers, so the team is found through the reducer. */
export function tasksChannel(team: AsyncTeam): AsyncTasksValue {
  const reducer: typeof mergeAsyncTasks = (known, news) => mergeAsyncTasks(known, news);
  return asyncTasksValue(Object.assign(reducer, { [TEAM]: team }));
}

/**
 * The transport of the async subagent with this name, if it is one with a `url` of this very agent, and not of one
 * inside it.
 */
export function remoteTasksOf(agent: object, agentName: string): AsyncTransport | undefined {
  return teamOf(agent)?.remote(agentName);
}

/** Throws a ConfigurationError when an async subagent of this agent names a graph that this process does not have. */
export function checkAsyncGraphs(agent: object): void {
  teamOf(agent)?.checkGraphs();
}

function teamOf(agent: object): AsyncTeam | undefined {
  const { channels } = (graphOf(agent) ?? {}) as { channels?: Record<string, { operator?: object }> };
  const { operator } = channels?.asyncTasks ?? {};
  return (operator as { [TEAM]?: AsyncTeam } | undefined)?.[TEAM];
}
