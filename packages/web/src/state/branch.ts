/** Branches: a copy of a thread that goes on from an earlier step. The thread itself stays as it is. */
import { runRequest, type SentContent } from "@deepwright/protocol/live";
import { call } from "./connection.ts";
import { go } from "./route.ts";
import { choicesOf, runSettings } from "./run-choices.ts";
import { changeThread, threads, titleOf } from "./threads.ts";

interface Step {
  readonly checkpoint: { readonly checkpoint_id?: string | null } | null;
  readonly values: { readonly messages?: readonly { readonly id?: string }[] } | null;
}

const PAGE = 50;

/** The newest step before the message was there. Undefined: the thread began with it. */
async function stepBefore(threadId: string, messageId: string): Promise<string | undefined> {
  let before: string | undefined;
  for (;;) {
    const steps = await call<readonly Step[]>("POST", "/threads/:thread_id/history", {
      parameters: { thread_id: threadId },
      body: { limit: PAGE, ...(before !== undefined && { before }) },
    });
    for (const { checkpoint, values } of steps) {
      before = checkpoint?.checkpoint_id ?? undefined;
      if (!(values?.messages ?? []).some(({ id }) => id === messageId)) return before;
    }
    if (steps.length === 0 || before === undefined) return undefined;
  }
}

/** Sends another message in place of an earlier one, in a copy of the thread. */
export async function branchAt(
  threadId: string,
  messageId: string,
  assistant: string,
  content: SentContent,
): Promise<void> {
  const checkpointId = await stepBefore(threadId, messageId);
  const copyId = await copyThread(threadId, checkpointId);
  const message = { type: "human", id: crypto.randomUUID(), content };
  await call("POST", "/threads/:thread_id/runs", {
    parameters: { thread_id: copyId },
    body: runRequest(assistant, message, runSettings(threadId)),
  });
  go({ view: "thread", threadId: copyId });
}

/** With a step, the copy begins as the thread was then. */
export async function copyThread(threadId: string, checkpointId?: string): Promise<string> {
  const { thread_id: copyId } = await call<{ thread_id: string }>("POST", "/threads/:thread_id/copy", {
    parameters: { thread_id: threadId },
    ...(checkpointId !== undefined && { query: { checkpoint_id: checkpointId } }),
  });
  const original = threads.peek().find((thread) => thread.thread_id === threadId);
  const title = original && titleOf(original);
  const choices = choicesOf(threadId);
  await changeThread(copyId, {
    metadata: { branched_from: threadId, choices },
    ...(title && { title: `${title} (copy)` }),
  });
  return copyId;
}
