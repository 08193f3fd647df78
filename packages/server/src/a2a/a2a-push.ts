/** Notifications of A2A: the task as it stands when a run of it has ended, as a webhook. Pure. */
import type { NewHook, PushConfig } from "../records/contract/hook-records.ts";
import { type TaskFacts, taskOf } from "./a2a-task.ts";
import { olderTask } from "./older-form.ts";

/** The client knows by the headers that the notification is for it, and from here. */
export function pushHook(
  { url, token, authentication, isOlder = false }: PushConfig,
  facts: TaskFacts,
  json: (value: unknown) => string = JSON.stringify,
): NewHook {
  const { scheme, credentials } = authentication ?? {};
  const headers = {
    ...(token !== undefined && { "x-a2a-notification-token": token }),
    ...(scheme !== undefined && { authorization: [scheme, credentials].filter(Boolean).join(" ") }),
  };
  const task = taskOf(facts);
  return { url, headers, body: json(isOlder ? olderTask(task) : { task }) };
}
