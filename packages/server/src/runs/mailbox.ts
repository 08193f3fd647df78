/** Messages to a thread from outside its runs. */
import { randomUUID } from "node:crypto";
import type { PostedMessage } from "@deepwright/protocol";
import { mailKey, type Owner, type RunRecord, type RunUser, type ServerRecords } from "../records/records.ts";
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
  /** What is known of who sends it. Absent: as of the last run. */
  readonly user?: RunUser | undefined;
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
  /**
   * Begins a run for mail that waits on a thread at rest, once for its newest letter. Undefined: there is none, or a
   * run has not ended, or the thread waits for a person.
   */
  wake(owner: Owner, threadId: string, assistantId?: string): Promise<RunRecord | undefined>;
  /** Has mail read that is there: by the run at work, else by one of its own. */
  attend(owner: Owner, threadId: string): Promise<RunRecord | undefined>;
  /** The same for the thread that this one does a task for. */
  attendParent(owner: Owner, threadId: string): Promise<void>;
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
    const request = { assistant_id: assistant, config, context, stream_mode, stream_subgraphs };
    return { request, user: last?.user };
  };

  const wakeFor = async (owner: Owner, threadId: string, assistantId?: string, sender?: RunUser) => {
    const { status } = await threadOf(owner, threadId);
    const newest = (await records.mail.waiting(threadId, MAIL_KINDS)).at(-1);
    if (status === "interrupted" || newest === undefined) return undefined;
    const { request: settings, user } = await like(owner, threadId, assistantId);
    const request = { ...settings, input: null, metadata: { ...MAIL_RUN } };
    const idempotencyKey = mailKey(threadId, newest.id);
    try {
      return await start({
        owner,
        user: sender ?? user,
        threadId,
        request,
        strategy: "reject",
        idempotencyKey,
      });
    } catch (error) {
      // Whoever is at work reads it, or sees at the end that it waits.
      if (error instanceof ServiceError && error.status < 500) return undefined;
      throw error;
    }
  };
  /** Whoever is at work on the thread reads it; else a run is begun. */
  const tell = async (owner: Owner, threadId: string, assistantId?: string, sender?: RunUser) => {
    worker.activeOn(threadId)?.look();
    const open = async () =>
      (await openRun(owner, threadId, "running")) ?? (await openRun(owner, threadId, "pending"));
    return (await open()) ?? (await wakeFor(owner, threadId, assistantId, sender)) ?? open();
  };

  return {
    wake: wakeFor,
    attend: tell,
    async attendParent(owner, threadId) {
      const task = await records.tasks.get(owner, threadId);
      const isThere = task && (await records.threads.get(owner, task.parentThreadId));
      if (isThere && task.state !== "open") await tell(owner, task.parentThreadId);
    },
    async steer(owner, threadId, { id = randomUUID(), content, assistantId, user }) {
      await threadOf(owner, threadId);
      const isNew = await records.mail.post(threadId, {
        id,
        kind: "steer",
        message: { type: "human", content },
      });
      const run = isNew ? await tell(owner, threadId, assistantId, user) : undefined;
      return { id, kind: "steer", run_id: run?.run_id ?? null };
    },
    async followUp(owner, threadId, { id = randomUUID(), content, assistantId, user }) {
      await threadOf(owner, threadId);
      const { request: settings, user: before } = await like(owner, threadId, assistantId);
      const run = await start({
        owner,
        user: user ?? before,
        threadId,
        request: { ...settings, input: { messages: [{ type: "human", content, id }] } },
        idempotencyKey: `follow-up:${threadId.length}:${threadId}:${id}`,
        // Settings are those of the last run, which may be another one by now.
        keyStandsFor: [threadId, id, content],
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
