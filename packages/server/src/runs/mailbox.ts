/** Messages to a thread from outside its runs. */
import { randomUUID } from "node:crypto";
import type { PostedMessage } from "@deepwright/protocol";
import type { Owner, RunRecord, ServerRecords } from "../records/records.ts";
import type { StartRun } from "./run-service.ts";
import { missing, ServiceError } from "./service-error.ts";
import { MAIL_KINDS, MAIL_RUN } from "./steering.ts";
import type { Worker } from "./worker.ts";

export interface NewMail {
  /** Of the message; one that is known is not delivered again. Absent: a new one. */
  readonly id?: string | undefined;
  /** Text or content blocks. */
  readonly content: unknown;
  /** Who answers when the thread is at rest. Absent: the assistant of its last run. */
  readonly assistantId?: string | undefined;
}

export interface Mailbox {
  /** Read before the next model call of the run at work, or in a run of its own when there is none. */
  steer(owner: Owner, threadId: string, mail: NewMail): Promise<PostedMessage>;
  /** Begins a run when those before it have ended. */
  followUp(owner: Owner, threadId: string, mail: NewMail): Promise<PostedMessage>;
  /**
   * Something that was done in the background is told to the thread, once for its id: within the run at work, else in
   * one of its own. A thread that waits for a person hears of it when it was answered. `message` is as an agent takes
   * it, or text. False: it was told before, or there is no such thread.
   */
  deliver(
    owner: Owner,
    threadId: string,
    mail: { readonly id: string; readonly message: unknown },
  ): Promise<boolean>;
  /** Begins a run for mail that waits on a thread at rest. */
  wake(owner: Owner, threadId: string, assistantId?: string): Promise<RunRecord | undefined>;
}

export interface MailboxParts {
  readonly records: ServerRecords;
  readonly worker: Pick<Worker, "activeOn">;
  readonly start: (run: StartRun) => Promise<RunRecord>;
}

export function createMailbox({ records, worker, start }: MailboxParts): Mailbox {
  const lastRun = async (owner: Owner, threadId: string) =>
    (await records.runs.list(owner, threadId, { limit: 1, offset: 0 }))[0];
  const openRun = async (owner: Owner, threadId: string, status: "running" | "pending") =>
    (await records.runs.list(owner, threadId, { limit: 1, offset: 0, status }))[0];
  const threadOf = async (owner: Owner, threadId: string) => {
    const thread = await records.threads.get(owner, threadId);
    if (thread === undefined) throw missing("thread");
    return thread;
  };
  /** As the last run was begun: who, with which settings, and what its readers see. */
  const like = async (owner: Owner, threadId: string, assistantId: string | undefined) => {
    const last = await lastRun(owner, threadId);
    const assistant = assistantId ?? last?.assistant_id;
    if (assistant === undefined)
      throw new ServiceError(
        "INVALID_REQUEST",
        "The thread has had no run: say which assistant is to answer.",
      );
    const { config, context, stream_mode, stream_subgraphs } = last?.request ?? {};
    return { assistant_id: assistant, config, context, stream_mode, stream_subgraphs };
  };

  const wake: Mailbox["wake"] = async (owner, threadId, assistantId) => {
    const { status } = await threadOf(owner, threadId);
    if (status === "interrupted") return undefined;
    const request = { ...(await like(owner, threadId, assistantId)), input: null, metadata: { ...MAIL_RUN } };
    return start({ owner, threadId, request, strategy: "enqueue" });
  };
  /** Whoever is at work on the thread reads it; else a run is begun. */
  const tell = async (owner: Owner, threadId: string, assistantId?: string) => {
    worker.activeOn(threadId)?.look();
    const run = (await openRun(owner, threadId, "running")) ?? (await openRun(owner, threadId, "pending"));
    return run ?? wake(owner, threadId, assistantId);
  };

  return {
    wake,
    async steer(owner, threadId, { id = randomUUID(), content, assistantId }) {
      await threadOf(owner, threadId);
      const isNew = await records.mail.post(threadId, {
        id,
        kind: "steer",
        message: { type: "human", content },
      });
      const run = isNew ? await tell(owner, threadId, assistantId) : undefined;
      return { id, kind: "steer", run_id: run?.run_id ?? null };
    },
    async followUp(owner, threadId, { id = randomUUID(), content, assistantId }) {
      await threadOf(owner, threadId);
      const settings = await like(owner, threadId, assistantId);
      const run = await start({
        owner,
        threadId,
        request: { ...settings, input: { messages: [{ type: "human", content, id }] } },
        idempotencyKey: `follow-up:${threadId}:${id}`,
        strategy: "enqueue",
      });
      return { id, kind: "follow-up", run_id: run.run_id };
    },
    async deliver(owner, threadId, { id, message }) {
      if ((await records.threads.get(owner, threadId)) === undefined) return false;
      if (!(await records.mail.post(threadId, { id, kind: "completion", message }))) return false;
      await tell(owner, threadId);
      return true;
    },
  };
}

/** Whether something waits that no run has read. */
export async function hasMail(records: ServerRecords, threadId: string): Promise<boolean> {
  return (await records.mail.waiting(threadId, MAIL_KINDS)).length > 0;
}
