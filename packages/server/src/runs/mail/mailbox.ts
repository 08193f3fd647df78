/** Messages to a thread from outside its runs. */
import { randomUUID } from "node:crypto";
import type { PostedMessage } from "@deepwright/protocol";
import {
  mailKey,
  type Owner,
  type RunRecord,
  type RunUser,
  type ServerRecords,
  type ThreadRecord,
} from "../../records/records.ts";
import type { ActiveRuns } from "../execution/active-runs.ts";
import { missing, ServiceError } from "../service-error.ts";
import type { StartRun } from "../start-request.ts";
import { hasUnheardEnd } from "../tasks/task-news.ts";
import { MAIL_KINDS, MAIL_RUN } from "./steering.ts";

export interface NewMail {
  /** Id of the message; a known one is not delivered again. Absent: a new id. */
  readonly id?: string | undefined;
  /** Text or content blocks. */
  readonly content: unknown;
  /** The assistant that answers when no run is at work. Absent: the one of the last run. */
  readonly assistantId?: string | undefined;
  /** Facts about the sender. Absent: as in the last run. */
  readonly user?: RunUser | undefined;
}

export interface Mailbox {
  /**
   * Read before the next model call of the run at work, or in a run of its own when there is none. Mail that no
   * assistant could answer is refused, and not stored.
   */
  steer(owner: Owner, threadId: string, mail: NewMail): Promise<PostedMessage>;
  /** Begins a run after all earlier ones have ended. */
  followUp(owner: Owner, threadId: string, mail: NewMail): Promise<PostedMessage>;
  /**
   * Delivers the result of a background task to the thread, once for its id: within the run at work, else in a run of
   * its own. A thread that waits for a person gets it after the answer; a thread without runs gets it in its first run.
   * `message` has the form that an agent takes, or is text. False: it was delivered before, or the thread does not
   * exist.
   */
  deliver(
    owner: Owner,
    threadId: string,
    mail: { readonly id: string; readonly message: unknown },
  ): Promise<boolean>;
  /**
   * Begins a run for waiting mail on a thread at rest, once for its newest letter. Undefined: there is no mail, or a
   * run has not ended, or the thread waits for a person, or no assistant can answer. After a failure only for the end
   * of background work.
   */
  wake(owner: Owner, threadId: string, assistantId?: string): Promise<RunRecord | undefined>;
  /** Has mail read that is there: by the run at work, else by one of its own. */
  attend(owner: Owner, threadId: string): Promise<RunRecord | undefined>;
  /** The same for the thread that this one does a task for. */
  attendParent(owner: Owner, threadId: string): Promise<void>;
}

export interface MailboxParts {
  readonly records: ServerRecords;
  readonly active: ActiveRuns;
  readonly start: (run: StartRun) => Promise<RunRecord>;
}

/** The thread, the assistant that answers there, and the user of its run; absent as in `NewMail`. */
interface Address extends Pick<NewMail, "assistantId" | "user"> {
  readonly owner: Owner;
  readonly threadId: string;
}

export function createMailbox(parts: MailboxParts): Mailbox {
  const { records } = parts;
  return {
    wake: (owner, threadId, assistantId) => wake(parts, { owner, threadId, assistantId }),
    attend: (owner, threadId) => tell(parts, { owner, threadId }),
    async attendParent(owner, threadId) {
      const task = await records.tasks.get(owner, threadId);
      const isThere = task && (await records.threads.get(owner, task.parentThreadId));
      if (isThere && task.state !== "open") await tell(parts, { owner, threadId: task.parentThreadId });
    },
    async steer(owner, threadId, { id = randomUUID(), content, assistantId, user }) {
      const address = { owner, threadId, assistantId, user };
      await checkAnswerer(parts, address);
      const isNew = await records.mail.post(owner, threadId, {
        id,
        kind: "steer",
        message: { type: "human", content },
      });
      const run = isNew ? await tell(parts, address) : undefined;
      return { id, kind: "steer", run_id: run?.run_id ?? null };
    },
    async followUp(owner, threadId, { id = randomUUID(), content, assistantId, user }) {
      await threadOf(parts, { owner, threadId });
      const { settings, user: before } = await answerer(parts, { owner, threadId, assistantId });
      const run = await parts.start({
        owner,
        user: user ?? before,
        threadId,
        request: { ...settings, input: { messages: [{ type: "human", content, id }] } },
        idempotencyKey: `follow-up:${threadId.length}:${threadId}:${id}`,
        // The settings come from the last run, which may be another one by now.
        keyStandsFor: [threadId, id, content],
        strategy: "enqueue",
      });
      return { id, kind: "follow-up", run_id: run.run_id };
    },
    async deliver(owner, threadId, { id, message }) {
      if (!(await records.mail.post(owner, threadId, { id, kind: "completion", message }))) return false;
      await tell(parts, { owner, threadId });
      return true;
    },
  };
}

async function threadOf({ records }: MailboxParts, { owner, threadId }: Address): Promise<ThreadRecord> {
  const thread = await records.threads.get(owner, threadId);
  if (thread === undefined) throw missing("thread");
  return thread;
}

async function lastRun({ records }: MailboxParts, { owner, threadId }: Address) {
  return (await records.runs.list(owner, threadId, { limit: 1, offset: 0 }))[0];
}

async function openRun({ records }: MailboxParts, { owner, threadId }: Address) {
  const first = async (status: "running" | "pending") =>
    (await records.runs.list(owner, threadId, { limit: 1, offset: 0, status }))[0];
  return (await first("running")) ?? (await first("pending"));
}

/** User, settings and stream modes of the last run. Undefined: no assistant is known. */
async function like(parts: MailboxParts, address: Address) {
  const last = await lastRun(parts, address);
  const assistant = address.assistantId ?? last?.assistant_id;
  if (assistant === undefined) return undefined;
  const { config, context, stream_mode, stream_subgraphs } = last?.request ?? {};
  const settings = { assistant_id: assistant, config, context, stream_mode, stream_subgraphs };
  return { settings, user: last?.user };
}

async function answerer(parts: MailboxParts, address: Address) {
  const found = await like(parts, address);
  if (found !== undefined) return found;
  throw new ServiceError("INVALID_REQUEST", "The thread has had no run: name the assistant that answers.");
}

/** Throws if every run that answers on the thread would be refused. Begins no run. */
async function checkAnswerer(parts: MailboxParts, address: Address): Promise<void> {
  const { owner, threadId } = address;
  await threadOf(parts, address);
  const { settings: request } = await answerer(parts, address);
  const possible = new Error("It could be begun.");
  const check = () => Promise.reject(possible);
  await parts.start({ owner, threadId, request, strategy: "reject", check }).catch((error) => {
    if (error !== possible) throw error;
  });
}

/**
 * After a failure a run begins only for news that no other run reports. Other mail waits, because it might fail for
 * ever.
 */
async function wake(parts: MailboxParts, address: Address): Promise<RunRecord | undefined> {
  const thread = await parts.records.threads.get(address.owner, address.threadId);
  if (thread === undefined) return undefined;
  if (thread.status === "error") {
    const { sequence = 0 } = (await lastRun(parts, address)) ?? {};
    if (!(await hasUnheardEnd(parts.records.mail, thread, sequence))) return undefined;
  }
  return beginFor(parts, thread, address);
}

async function beginFor(
  parts: MailboxParts,
  { status }: ThreadRecord,
  address: Address,
): Promise<RunRecord | undefined> {
  const { owner, threadId } = address;
  const newest = (await parts.records.mail.waiting(threadId, MAIL_KINDS)).at(-1);
  if (status === "interrupted" || newest === undefined) return undefined;
  const found = await like(parts, address);
  // It is read by the first run there is.
  if (found === undefined) return undefined;
  try {
    return await parts.start({
      owner,
      user: address.user ?? found.user,
      threadId,
      request: { ...found.settings, input: null, metadata: { ...MAIL_RUN } },
      strategy: "reject",
      idempotencyKey: mailKey(threadId, newest.id),
    });
  } catch (error) {
    // The run at work reads the mail, or notices at its end that mail waits.
    if (error instanceof ServiceError && error.status < 500) return undefined;
    throw error;
  }
}

/** The run at work on the thread reads the mail; without one a run is begun. */
async function tell(parts: MailboxParts, address: Address): Promise<RunRecord | undefined> {
  parts.active.onThread(address.threadId)?.look();
  const open = await openRun(parts, address);
  if (open !== undefined) return open;
  return (await beginFor(parts, await threadOf(parts, address), address)) ?? openRun(parts, address);
}

/** Whether something waits that no run has read. */
export async function hasMail(records: ServerRecords, threadId: string): Promise<boolean> {
  return (await records.mail.waiting(threadId, MAIL_KINDS)).length > 0;
}
