/** Tasks for an agent of this process. */
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import {
  type BackgroundTasks,
  backgroundTasks,
  type GraphLoader,
  reportOf,
  type StoredThread,
} from "./background-tasks.ts";
import { type BackgroundGraph, checkGraph, findGraph, type GraphSources, graphIds } from "./graphs.ts";
import type { AsyncReport, AsyncRun, AsyncTransport } from "./transport.ts";

/** The graph may be registered later: calls fail until `graphId` is registered. */
export function localTransport(agentName: string, graphId: string, own: GraphSources): AsyncTransport {
  const load: GraphLoader = () => loaded(graphId, own);
  const tasks = (): BackgroundTasks => backgroundTasks();
  return {
    async start(description, call) {
      checkGraphId(agentName, graphId, own);
      return tasks().start(load, description, call);
    },
    check: async (run) =>
      tasks().check(run.threadId) ?? foundReport(run, await tasks().stored(load, run.threadId)),
    async update(run, message, call) {
      const isKnown = tasks().check(run.threadId) !== undefined;
      if (!isKnown && (await tasks().stored(load, run.threadId)) === undefined) throw lost(run);
      return tasks().update(run.threadId, message, { load, call });
    },
    cancel: ({ threadId }) => tasks().cancel(threadId),
    join: async (run) =>
      tasks().check(run.threadId) === undefined
        ? foundReport(run, await tasks().stored(load, run.threadId))
        : tasks().join(run),
  };
}

/** Throws a ConfigurationError until `graphId` is registered. */
export function checkGraphId(agentName: string, graphId: string, own: GraphSources): void {
  if (findGraph(graphId, own) === undefined) throw unknownGraph(agentName, graphId, graphIds(own));
}

/** The registered one may have been replaced or taken out since. */
async function loaded(graphId: string, own: GraphSources): Promise<BackgroundGraph> {
  const source = findGraph(graphId, own);
  const graph = typeof source === "function" ? await source() : source;
  if (graph === undefined)
    throw new DeepwrightError("ASYNC_TASK_FAILED", `The graph '${graphId}' is not registered any more.`);
  checkGraph(graphId, graph);
  return graph as BackgroundGraph;
}

/** How far a task came that another process has run: it is over, or that process ended in the middle of it. */
function foundReport({ runId }: AsyncRun, stored: StoredThread | undefined): AsyncReport {
  const orderId = `task-${runId}`;
  const messages = stored?.values.messages as readonly { id?: string }[] | undefined;
  if (stored === undefined || !messages?.some(({ id }) => id === orderId))
    return { status: "error", reason: "The process that ran it has ended, and nothing of it was stored." };
  if (stored.next.length === 0) return reportOf(stored.values, orderId);
  return {
    status: "error",
    reason: "The process that ran it has ended. update_async_task has it go on from where it was.",
  };
}

function lost({ threadId }: AsyncRun): DeepwrightError {
  return new DeepwrightError(
    "ASYNC_TASK_FAILED",
    `Task ${threadId} was run by a process that has ended, and nothing of it was stored. Start it anew.`,
  );
}

function unknownGraph(name: string, graphId: string, known: readonly string[]): ConfigurationError {
  return new ConfigurationError(
    "INVALID_OPTION",
    `The async subagent '${name}' has the graphId '${graphId}', and no agent of this process has it. ${known.length === 0 ? "None is registered." : `Known are: ${known.join(", ")}.`}`,
    { hint: "Register it with registerGraph(id, agent) or asyncAgents, or give the url of a server." },
  );
}
