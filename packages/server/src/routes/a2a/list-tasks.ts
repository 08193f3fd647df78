/** The tasks of a context, the newest first. */
import { listedTasks } from "@deepwright/protocol";
import { taskIdOf, taskOf } from "../../a2a/a2a-task.ts";
import type { RunHead } from "../../records/records.ts";
import { type RpcCall, reply, taskNow, waitingFor } from "./a2a-calls.ts";

/** Runs of a context that are looked at. */
const MOST_RUNS = 1_000;
const PAGE = 50;

export async function listTasks(call: RpcCall): Promise<Response> {
  const {
    contextId,
    status,
    pageSize = PAGE,
    pageToken,
    statusTimestampAfter,
    includeArtifacts,
  } = listedTasks.parse(call.body.params);
  const all = await runsOfTasks(call, contextId);
  const known = await Promise.all(all.map(async (run) => ({ run, waiting: await waitingFor(call, run) })));
  const found = known
    .map(({ run, waiting }) => ({ run, task: taskOf({ run, waiting, answer: undefined }) }))
    .filter(({ task }) => !status || status === "TASK_STATE_UNSPECIFIED" || task.status.state === status)
    .filter(({ task }) => !statusTimestampAfter || task.status.timestamp >= statusTimestampAfter);
  const first = Number(pageToken || 0);
  const page = found.slice(first, first + pageSize);
  const isLast = first + page.length >= found.length;
  return reply(call, {
    tasks: includeArtifacts
      ? await Promise.all(page.map(({ run }) => taskNow(call, run)))
      : page.map(({ task }) => task),
    nextPageToken: isLast ? "" : String(first + page.length),
    pageSize,
    totalSize: found.length,
  });
}

/** The newest run of each task of this agent. */
async function runsOfTasks({ services, owner, assistant }: RpcCall, contextId: string): Promise<RunHead[]> {
  const page = { limit: MOST_RUNS, offset: 0 };
  const heads = await services.records.runs.heads(owner, contextId, page);
  const tasks = new Map<string, RunHead>();
  for (const run of heads)
    if (run.assistant_id === assistant.assistant_id && !tasks.has(taskIdOf(run)))
      tasks.set(taskIdOf(run), run);
  return [...tasks.values()];
}
