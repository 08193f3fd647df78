/** Keeps the end of a background task until the thread that started it has read it. */
import { HumanMessage } from "@langchain/core/messages";
import type { AsyncTaskStatus } from "./async-task.ts";

/** Plain JSON. */
export interface MailboxMessage {
  /** The same id for the same end of the same run, from every reporter and in every report. */
  readonly id: string;
  readonly taskId: string;
  readonly runId: string;
  /** The subagent's name in the agent that started it; "" if unknown. */
  readonly agentName: string;
  readonly status: AsyncTaskStatus;
  /** Text for the model, without any text of the subagent. */
  readonly text: string;
  /** The agent that owns the thread, if the sender knows it. */
  readonly graphId?: string | undefined;
}

/**
 * One box per thread. Posts may come twice and in any order; a thread gets each id once. A mailbox that delivers
 * messages to their threads itself (by `mailMessage`) may always answer that none is unread.
 */
export interface Mailbox {
  /** Resolves when the message is kept. A second one with its id changes nothing, also when the first was read. */
  post(threadId: string, message: MailboxMessage): Promise<void>;
  /** Oldest first; they stay until they are acknowledged. */
  unread(threadId: string): Promise<readonly MailboxMessage[]>;
  /** They are in the state of the thread. */
  acknowledge(threadId: string, ids: readonly string[]): Promise<void>;
}

/** The message of the thread; with this id it can be in it only once. */
export function mailMessage({ id, taskId, agentName, status, text }: MailboxMessage): HumanMessage {
  return new HumanMessage({
    id,
    content: text,
    additional_kwargs: { async_task: { taskId, agentName, status } },
  });
}

export interface MemoryMailboxOptions {
  /** Called after a message was put into a box, for example to begin a run on the thread. Errors are dropped. */
  readonly onPost?: (threadId: string, message: MailboxMessage) => void;
}

export interface MemoryMailbox extends Mailbox {
  /** Hears of posts until the returned function is called. */
  listen(listener: (threadId: string, message: MailboxMessage) => void): () => void;
}

/** Ids of messages that were read are remembered, so many of them. */
const REMEMBERED = 10_000;

/** Lives as long as the process. */
export function createMemoryMailbox({ onPost }: MemoryMailboxOptions = {}): MemoryMailbox {
  const boxes = new Map<string, Map<string, MailboxMessage>>();
  const read = new Set<string>();
  const listeners = new Set<(threadId: string, message: MailboxMessage) => void>();
  if (onPost !== undefined) listeners.add(onPost);
  return {
    async post(threadId, message) {
      const box = boxes.get(threadId) ?? new Map<string, MailboxMessage>();
      if (box.has(message.id) || read.has(message.id)) return;
      box.set(message.id, message);
      boxes.set(threadId, box);
      for (const listener of [...listeners]) callSafely(() => listener(threadId, message));
    },
    async unread(threadId) {
      return [...(boxes.get(threadId)?.values() ?? [])];
    },
    async acknowledge(threadId, ids) {
      const box = boxes.get(threadId);
      for (const id of ids) if (box?.delete(id)) remember(read, id);
      if (box?.size === 0) boxes.delete(threadId);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > REMEMBERED && oldest !== undefined) ids.delete(oldest);
}

/** An error of a listener must not keep the message from other listeners. */
function callSafely(call: () => void): void {
  try {
    call();
  } catch {
    // The listener has no place to report its error. The message is in the box either way.
  }
}
