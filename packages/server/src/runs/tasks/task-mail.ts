/** Ends of background tasks as mail of the thread that gave them. */
import { asyncTaskEnd, type Mailbox } from "deepwright";
import type { MailboxMessage } from "deepwright/internal";
import type { Owner, ServerRecords } from "../../records/records.ts";

export interface TaskMailParts {
  readonly records: Pick<ServerRecords, "mail">;
  /** Makes a run read the mail of the thread: the run at work, or a new one. */
  readonly attend: (owner: Owner, threadId: string) => Promise<unknown>;
}

export function taskMailbox({ records, attend }: TaskMailParts, owner: Owner): Mailbox {
  return {
    async post(threadId, message) {
      const isNew = await records.mail.post(owner, threadId, { id: message.id, kind: "task-end", message });
      if (isNew) await attend(owner, threadId);
    },
    async unread(threadId) {
      return (await records.mail.waiting(threadId, ["task-end"])).map(taskEndOf);
    },
    acknowledge: (threadId, ids) => records.mail.settle(threadId, ids),
  };
}

/** The message of a `task-end` mail. Storage writes it without text, which is added here. */
export function taskEndOf({
  id,
  message,
}: {
  readonly id: string;
  readonly message: unknown;
}): MailboxMessage {
  const end = message as MailboxMessage;
  return { ...asyncTaskEnd(end, end), ...end, id };
}
