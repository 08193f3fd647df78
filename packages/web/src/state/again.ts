/** Runs that go on after a failure or an early end. */
import { runRequest } from "@deepwright/protocol/live";
import { words } from "../words.ts";
import { call } from "./connection.ts";
import { current } from "./current.ts";
import { runSettings } from "./run-choices.ts";
import { assistantOf } from "./threads.ts";

/** Goes on from the last step that was stored. */
export async function tryAgain(threadId: string): Promise<void> {
  await call("POST", "/threads/:thread_id/runs", {
    parameters: { thread_id: threadId },
    body: { ...runRequest(assistantOf(threadId), {}, runSettings(threadId)), input: null },
  });
}

/** A message, so that the budget of a run begins anew. */
export async function goOn(threadId: string): Promise<void> {
  await current.peek()?.send(assistantOf(threadId), words.goOnMessage, runSettings(threadId));
}
