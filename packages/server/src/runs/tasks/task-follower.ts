/**
 * Follows background tasks that other servers do for threads of this one, so that these are told of the end.
 *
 * Which tasks there are is a record, and so is the end: any process that lives looks, and none of it is lost with one.
 * The address and the keys are not stored; the agent that gave the task has them.
 */
import { type AsyncTransport, DeepwrightError, remoteAsyncTasks } from "deepwright";
import type { AgentRegistry } from "../../agents/registry.ts";
import type { RemoteTask } from "../../records/contract/background-records.ts";
import type { Owner, ServerRecords, TaskStatus } from "../../records/records.ts";
import { createDueWork, type DueWork, pauseAfter } from "../upkeep/due-work.ts";

export interface TaskFollowerParts {
  readonly records: Pick<ServerRecords, "background">;
  readonly registry: AgentRegistry;
  /** Has mail of the thread read, by the run at work or by one that is begun. */
  readonly attend: (owner: Owner, threadId: string) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** After this others may think its process gone. That two look at the same time does no harm: the end is told once. */
const LEASE_MS = 10_000;
/** Failures in a row, less and less often, before a task counts as lost: about an hour. */
const MOST_FAILURES = 70;
/** Fewer, if the server answers that it has no such thing: about a minute. */
const MOST_UNKNOWN = 8;
const MOST_PAUSE_AFTER_FAILURE_MS = 60_000;
const PAUSES = [1_000, 20_000] as const;

export function createTaskFollower(parts: TaskFollowerParts): DueWork {
  const { background } = parts.records;
  return createDueWork<RemoteTask>({
    take: (limit) => background.take(limit, LEASE_MS),
    work: (task, signal) => lookedAt(parts, task, signal),
    onError: parts.onError,
  });
}

/** Returns after how long it is to be looked at again; undefined: not by this process. */
async function lookedAt(
  parts: TaskFollowerParts,
  task: RemoteTask,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { records, attend } = parts;
  const { background } = records;
  try {
    const transport = await transportOf(parts, task);
    if (task.state === "cancel") {
      await transport.cancel(runOf(task), { signal });
      await background.stopped(task);
      return undefined;
    }
    const { status } = await (transport.look?.(runOf(task), signal) ??
      transport.check(runOf(task), { signal }));
    if (!isEnd(status) || (status === "interrupted" && task.state === "waits")) {
      const inMs = pauseAfter(task.looks, transport.pauses ?? PAUSES);
      await background.again(task, { inMs, failed: false });
      return inMs;
    }
    if (await background.end(task, status)) await attend(task.owner, task.parentThreadId);
    return undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    return failedLook(parts, task, error);
  }
}

/** One that cannot be reached for long has failed, as far as anyone can tell; one to be cancelled is left to itself. */
async function failedLook(
  { records: { background }, attend, onError }: TaskFollowerParts,
  task: RemoteTask,
  error: unknown,
): Promise<number | undefined> {
  if (!(error instanceof DeepwrightError)) onError(error);
  if (task.failures < (isUnknownThere(error) ? MOST_UNKNOWN : MOST_FAILURES)) {
    const inMs = pauseAfter(task.failures + 1, [PAUSES[0], MOST_PAUSE_AFTER_FAILURE_MS]);
    await background.again(task, { inMs, failed: true });
    return inMs;
  }
  if (task.state === "cancel") await background.stopped(task);
  else if (await background.end(task, "error")) await attend(task.owner, task.parentThreadId);
  return undefined;
}

function isUnknownThere(error: unknown): boolean {
  const { cause } = error as { cause?: { status?: unknown } };
  return cause?.status === 404;
}

async function transportOf(
  { registry }: TaskFollowerParts,
  { graphId, agentName }: RemoteTask,
): Promise<AsyncTransport> {
  const transport = remoteAsyncTasks(await registry.load(graphId), agentName);
  if (transport !== undefined) return transport;
  throw new DeepwrightError("ASYNC_TASK_FAILED", `The agent '${graphId}' has no subagent '${agentName}'.`);
}

function runOf({ taskId, runId }: RemoteTask) {
  return { threadId: taskId, runId, status: "running" } as const;
}

const ENDS: ReadonlySet<string> = new Set(["success", "error", "timeout", "cancelled", "interrupted"]);

function isEnd(status: string): status is TaskStatus {
  return ENDS.has(status);
}
