/**
 * Polls background tasks that run on other servers, and sends their end to the thread that started them.
 *
 * Tasks and their ends are records, so any process can poll, and nothing is lost when one dies. Addresses and keys are
 * not stored; the agent that started the task has them.
 */
import { type AsyncTransport, DeepwrightError, remoteAsyncTasks } from "deepwright";
import type { AgentRegistry } from "../../agents/registry.ts";
import type { RemoteTask } from "../../records/contract/background-records.ts";
import type { Owner, ServerRecords, TaskStatus } from "../../records/records.ts";
import { createDueWork, type DueWork, pauseAfter } from "../upkeep/due-work.ts";

export interface TaskFollowerParts {
  readonly records: Pick<ServerRecords, "background">;
  readonly registry: AgentRegistry;
  /** Lets the active run of the thread read its mail, or starts a run that does. */
  readonly attend: (owner: Owner, threadId: string) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** After this time another process polls the task too. The end is reported once even when two poll. */
const LEASE_MS = 10_000;
/** Failed polls in a row, with growing pauses, before a task counts as lost: about an hour. */
const MOST_FAILURES = 70;
/** Fewer when the other server answers 404: about a minute. */
const MOST_UNKNOWN = 8;
const MOST_PAUSE_AFTER_FAILURE_MS = 60_000;
/** Shortest and longest pause between two polls, in milliseconds. */
const PAUSES = [1_000, 20_000] as const;

export function createTaskFollower(parts: TaskFollowerParts): DueWork {
  const { background } = parts.records;
  return createDueWork<RemoteTask>({
    take: (limit) => background.take(limit, LEASE_MS),
    work: (task, signal) => poll(parts, task, signal),
    onError: parts.onError,
  });
}

/** Returns the milliseconds until the next poll; undefined: not by this process. */
async function poll(
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
    return pollFailed(parts, task, error);
  }
}

/** A task that is unreachable for long counts as failed. One that should be cancelled is no longer polled. */
async function pollFailed(
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
