/**
 * Runs background tasks of agents as runs of this server, each on a thread of its own that belongs to the same owner.
 *
 * The link between thread and task is a record. The end of the task is reported in the transaction that ends its last
 * run (`records/task-ends.ts`), so nothing needs to be watched, and nothing is lost with a process.
 */

import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import {
  type AsyncTaskHost,
  type AsyncTransport,
  asyncTaskReport,
  DeepwrightError,
  remoteAsyncTasks,
} from "deepwright";
import type { AsyncCall, AsyncReport, AsyncRun } from "deepwright/internal";
import { assistantIdOf, nameId } from "../../agents/default-assistant.ts";
import type { AgentRegistry } from "../../agents/registry.ts";
import type { Queue } from "../../queue/queue.ts";
import type { Owner, RunClaim, RunRecord, ServerRecords, TaskRecord } from "../../records/records.ts";
import type { ActiveRuns } from "../execution/active-runs.ts";
import { readState } from "../state/read-state.ts";
import { newThread } from "../thread-of-run.ts";
import type { DueWork } from "../upkeep/due-work.ts";
import { untilEnded } from "../watch-run.ts";
import { endTeller } from "./task-completions.ts";
import { taskMailbox } from "./task-mail.ts";

export interface TaskHostParts {
  readonly records: ServerRecords;
  readonly registry: AgentRegistry;
  readonly queue: Queue;
  readonly active: ActiveRuns;
  /** Makes a run read the mail of the thread: the run at work, or a new one. */
  readonly attend: (owner: Owner, threadId: string) => Promise<unknown>;
  /** Tasks that others do are to be looked at. */
  readonly follower: Pick<DueWork, "kick">;
}

/** Settings that runs of tasks inherit from the run that gives them. */
export interface HandedOn {
  readonly configurable: Record<string, unknown>;
  readonly context: unknown;
}

export type TaskHosts = (claim: RunClaim, handedOn: HandedOn) => AsyncTaskHost;

/** How long a cancelled run is waited for. */
const STOP_MS = 5_000;

export function taskHosts(parts: TaskHostParts): TaskHosts {
  // Lookups for a call are not part of the run that makes it.
  const scope = new AsyncResource("deepwright.task-host");
  return (claim, handedOn) => ({
    mailbox: taskMailbox(parts, claim.run.owner),
    ...remoteTasks(parts, claim),
    tellsEnd: endTeller(parts, claim.run),
    transport: (graphId, agentName) =>
      parts.registry.has(graphId)
        ? taskTransport({ ...parts, claim, handedOn, graphId, agentName, scope })
        : undefined,
  });
}

/** Tasks of other servers: that there are some is a record, which any worker follows (`task-follower.ts`). */
function remoteTasks(
  { records, registry }: TaskHostParts,
  claim: RunClaim,
): Required<Pick<AsyncTaskHost, "follow" | "forget">> {
  const { owner, thread_id, assistant_id } = claim.run;
  const followed = new Set<string>();
  return {
    async follow({ taskId, runId, agentName }) {
      const name = `${taskId} ${runId}`;
      if (followed.has(name)) return true;
      const assistant =
        registry.assistant(assistant_id) ?? (await records.assistants.get(owner, assistant_id));
      const graphId = assistant?.graph_id ?? "";
      const transport = registry.has(graphId)
        ? remoteAsyncTasks(await registry.load(graphId), agentName)
        : undefined;
      // The team belongs to a graph that is not ours.
      if (transport === undefined) return false;
      const lookInMs = transport.pauses?.[0] ?? 0;
      const task = { owner, giver: claim, taskId, runId, agentName, graphId, lookInMs };
      if (!(await records.background.follow(task))) throw failed("The run that gives the task was ended.");
      followed.add(name);
      return true;
    },
    forget: (taskId) => records.background.forget(owner, thread_id, taskId),
  };
}

interface TransportParts extends TaskHostParts {
  readonly claim: RunClaim;
  readonly handedOn: HandedOn;
  readonly graphId: string;
  readonly agentName: string;
  readonly scope: AsyncResource;
}

function taskTransport(parts: TransportParts): AsyncTransport {
  const { records, active, claim, scope, follower } = parts;
  const { owner, thread_id: parent } = claim.run;
  const taskOf = async (threadId: string): Promise<TaskRecord> => {
    const task = await records.tasks.get(owner, threadId);
    if (task?.parentThreadId !== parent) throw failed(`Task ${threadId} is not one of this conversation.`);
    return task;
  };
  return {
    start: (text, call) => beginTask(parts, { text, call }),
    async check({ threadId }) {
      const task = await taskOf(threadId);
      return scope.runInAsyncScope(() => reported(parts, task));
    },
    async update({ threadId }, text, call) {
      await taskOf(threadId);
      return beginTask(parts, { text, call, threadId });
    },
    async cancel({ threadId }) {
      await taskOf(threadId);
      const runs = await records.tasks.cancel(owner, threadId);
      for (const { run_id } of runs) active.run(run_id)?.cancel("interrupt");
      follower.kick();
      const signal = AbortSignal.timeout(STOP_MS);
      await Promise.allSettled(runs.map(({ run_id }) => untilEnded(records, owner, run_id, signal)));
    },
  };
}

interface Order {
  readonly text: string;
  readonly call: AsyncCall;
  /** Thread of a known task. */
  readonly threadId?: string;
}

/** The same call of the same run, made again after a crash, is the same order. */
function orderedRun({ claim, handedOn, graphId }: TransportParts, { text, call, threadId }: Order) {
  const { run: giver } = claim;
  const { configurable, context } = handedOn;
  const { stream_mode, stream_subgraphs } = giver.request;
  const runId = randomUUID();
  const key = call.callId === undefined ? undefined : `task:${giver.run_id}:${call.callId}`;
  return {
    owner: giver.owner,
    user: giver.user,
    runId,
    assistantId: assistantIdOf(graphId),
    threadId: threadId ?? (key === undefined ? randomUUID() : nameId(key)),
    request: {
      assistant_id: graphId,
      input: { messages: [{ type: "human", id: orderId(runId), content: text }] },
      config: { configurable },
      metadata: { parent_thread_id: giver.thread_id },
      ...(context !== undefined && { context }),
      ...(stream_mode != null && { stream_mode }),
      ...(stream_subgraphs != null && { stream_subgraphs }),
    } as RunRecord["request"],
    strategy: "interrupt" as const,
    ...(key !== undefined && { idempotencyKey: key, requestHash: "" }),
    endOfDisplaced: [{ event: "end", data: JSON.stringify({ status: "interrupted" }) }],
  };
}

const orderId = (runId: string): string => `task-${runId}`;

async function beginTask(parts: TransportParts, order: Order): Promise<AsyncRun> {
  const { records, queue, active, claim: giver, graphId, agentName } = parts;
  const run = orderedRun(parts, order);
  const { assistantId } = run;
  const metadata = {
    graph_id: graphId,
    assistant_id: assistantId,
    parent_thread_id: giver.run.thread_id,
    agent_name: agentName,
  };
  const isNew = order.threadId === undefined;
  const started = await records.tasks.begin({
    giver,
    agentName,
    ...(isNew && { thread: newThread(run.owner, run.threadId, metadata) }),
    run,
  });
  if (started.kind === "busy") throw failed("The run that gives the task was ended.");
  if (started.kind !== "created" && started.kind !== "known") throw failed("The thread of the task is gone.");
  if (started.kind === "created")
    for (const other of started.displaced) active.run(other.run_id)?.cancel("interrupt");
  await queue.wake(run.threadId);
  return { threadId: run.threadId, runId: started.run.run_id, status: "pending" };
}

async function reported(
  { records, registry, claim, graphId }: TransportParts,
  task: TaskRecord,
): Promise<AsyncReport> {
  const { owner } = claim.run;
  const { threadId, runId, status } = task;
  if (task.state === "open") {
    const run = await records.runs.get(owner, runId);
    return { status: run?.status === "pending" ? "pending" : "running" };
  }
  const agent = await registry.load(graphId);
  const { values } = await readState(agent, { configurable: { thread_id: threadId } });
  const reason = await reasonOf(records, owner, task);
  // Its thread may have been deleted, and its id used again, while the state was read.
  if ((await records.tasks.get(owner, threadId)) === undefined)
    throw failed("The thread of the task is gone.");
  const end = reason === undefined ? undefined : { status: status ?? "error", reason };
  return asyncTaskReport(values, orderId(runId), end);
}

/** The reason why the task was not finished; undefined: its agent ended normally, and its state has the result. */
async function reasonOf(
  records: ServerRecords,
  owner: Owner,
  { threadId, status }: TaskRecord,
): Promise<string | undefined> {
  if (status === "success") return undefined;
  if (status !== "error") return REASONS[status ?? ""] ?? "It did not finish.";
  const [last] = await records.runs.list(owner, threadId, { limit: 1, offset: 0 });
  return last?.error?.message;
}

const REASONS: Readonly<Record<string, string>> = {
  timeout: "It ran out of time.",
  cancelled: "It was stopped.",
  interrupted: "It waits for a person's decision, which has to be given on its own thread.",
};

function failed(message: string): DeepwrightError {
  return new DeepwrightError("ASYNC_TASK_FAILED", message);
}
