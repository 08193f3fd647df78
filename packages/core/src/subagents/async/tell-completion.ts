/** Tells another thread that this one has done its task: through the mailbox here, or by a run on a server. */
import { graphOf } from "../run-child.ts";
import type { AsyncTaskStatus } from "./async-task.ts";
import { threadOf } from "./async-team.ts";
import { hostOf, mailboxOf } from "./host.ts";
import type { Mailbox, MailboxMessage } from "./mailbox.ts";
import { endOf } from "./open-tasks.ts";
import type { Server } from "./server-requests.ts";

export interface CompletionTarget {
  readonly graphId: string;
  /** Absent: a thread of this deployment. */
  readonly server?: Server | undefined;
}

const ATTEMPTS = 4;

/**
 * Tries a few times. A failure does not fail the task itself. A host that stores the ends of runs reports them itself.
 */
export async function tellCompletion(
  target: CompletionTarget,
  ownerThreadId: string,
  status: AsyncTaskStatus,
  configurable: Record<string, unknown> | undefined,
): Promise<void> {
  if (await hostOf(configurable).tellsEnd?.()) return;
  const message = messageOf(status, configurable);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1)
    try {
      await send(target, ownerThreadId, message, mailboxOf(configurable));
      return;
    } catch {
      if (attempt < ATTEMPTS) await new Promise<void>((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    }
}

async function send(
  { graphId, server }: CompletionTarget,
  ownerThreadId: string,
  message: MailboxMessage,
  mailbox: Mailbox,
): Promise<void> {
  if (server === undefined) await mailbox.post(ownerThreadId, { ...message, graphId });
  else await beginRun(server, graphId, ownerThreadId, message);
}

const TARGET = Symbol.for("deepwright.completion-target.v1");

/** A reducer that carries the thread to notify from a compiled graph to its agent. The newer value wins. */
export function leadingTo(target: CompletionTarget): (known: unknown, given: unknown) => unknown {
  return Object.assign((known: unknown, given: unknown) => given ?? known, { [TARGET]: target });
}

function targetOf(agent: object): CompletionTarget | undefined {
  const { channels } = (graphOf(agent) ?? {}) as { channels?: Record<string, { operator?: object }> };
  const { operator } = channels?.callbackThreadId ?? {};
  return (operator as { [TARGET]?: CompletionTarget } | undefined)?.[TARGET];
}

/** Whether the agent has a `createCompletionCallbackMiddleware`, so that `tellEnd` has a receiver. */
export function tellsEnds(agent: object): boolean {
  return targetOf(agent) !== undefined;
}

/**
 * Reports the end of a run once, to the thread that the agent's middleware names: for hosts that report ends
 * themselves. `mailbox` takes messages for threads of this deployment. Rejects when the report could not be delivered.
 */
export async function tellEnd(
  agent: object,
  ownerThreadId: string,
  end: Pick<MailboxMessage, "id" | "taskId" | "runId" | "status">,
  mailbox: Mailbox,
): Promise<void> {
  const target = targetOf(agent);
  if (target === undefined) return;
  const message = { ...endOf({ ...end, agentName: "" }, end), id: end.id };
  await send(target, ownerThreadId, message, mailbox);
}

/** Uses the same id as a waiting supervisor would, so the thread gets one message. */
function messageOf(
  status: AsyncTaskStatus,
  configurable: Record<string, unknown> | undefined,
): MailboxMessage {
  const taskId = threadOf(configurable) ?? crypto.randomUUID();
  const given = configurable?.run_id;
  const runId = typeof given === "string" ? given : crypto.randomUUID();
  return endOf({ taskId, runId, agentName: "" }, { status });
}

function beginRun(
  server: Server,
  graphId: string,
  threadId: string,
  message: MailboxMessage,
): Promise<unknown> {
  return server({
    method: "POST",
    path: `/threads/${encodeURIComponent(threadId)}/runs`,
    headers: { "idempotency-key": message.id },
    body: {
      assistant_id: graphId,
      input: { messages: [{ id: message.id, role: "user", content: message.text }] },
      multitask_strategy: "enqueue",
    },
  });
}
