/** A copy of a thread that goes on from one of its steps, perhaps with another model, mode or message. */
import { runRequest } from "@deepwright/protocol/live";
import { copyThread } from "../state/branch.ts";
import { call } from "../state/connection.ts";
import { type Choices, choose, runSettings } from "../state/run-choices.ts";
import { assistantOf } from "../state/threads.ts";
import { restore } from "../undo/undo-calls.ts";

export interface ForkRequest {
  readonly checkpointId: string;
  /** Empty: the agent goes on with what it had to do. */
  readonly text: string;
  readonly choices: Choices;
  /** Puts the files on disk back to the step before the copy begins. */
  readonly withFiles: boolean;
}

/** Returns the id of the copy, whose run has begun. */
export async function forkAt(threadId: string, request: ForkRequest): Promise<string> {
  const { checkpointId, text, choices, withFiles } = request;
  if (withFiles) await restore(threadId, { since: checkpointId });
  const copyId = await copyThread(threadId, checkpointId);
  choose(copyId, choices);
  const message = { type: "human", id: crypto.randomUUID(), content: text };
  const body = runRequest(assistantOf(threadId), message, runSettings(copyId));
  await call("POST", "/threads/:thread_id/runs", {
    parameters: { thread_id: copyId },
    body: text === "" ? { ...body, input: null } : body,
  });
  return copyId;
}
