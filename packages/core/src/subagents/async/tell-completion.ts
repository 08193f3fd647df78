/** Tells another thread that this one has done its task: through the mailbox here, or by a run on a server. */
import type { AsyncTaskStatus } from "./async-task.ts";
import { threadOf } from "./async-team.ts";
import { mailboxOf } from "./host.ts";
import type { MailboxMessage } from "./mailbox.ts";
import { endOf } from "./open-tasks.ts";
import type { Server } from "./server-requests.ts";

export interface CompletionTarget {
  readonly graphId: string;
  /** Absent: a thread of this deployment. */
  readonly server?: Server | undefined;
}

const ATTEMPTS = 4;

/** Tries a few times; who did the task is not held up by one who cannot be told. */
export async function tellCompletion(
  { graphId, server }: CompletionTarget,
  ownerThreadId: string,
  status: AsyncTaskStatus,
  configurable: Record<string, unknown> | undefined,
): Promise<void> {
  const message = { ...messageOf(status, configurable), graphId };
  const send = (): Promise<unknown> =>
    server === undefined
      ? mailboxOf(configurable).post(ownerThreadId, message)
      : beginRun(server, graphId, ownerThreadId, message);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1)
    try {
      await send();
      return;
    } catch {
      if (attempt < ATTEMPTS) await new Promise<void>((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    }
}

/** The same id as that of whoever waits for the run: the thread hears of it once. */
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
