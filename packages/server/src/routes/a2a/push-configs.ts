/** Notifications about a task: a client has them once for each task, and may change them while the task goes on. */
import { randomUUID } from "node:crypto";
import { newPushConfig, type PushConfigWish, pushConfigOfTask } from "@deepwright/protocol";
import type { PushConfig, RunHead } from "../../records/records.ts";
import { NO_SUCH_TASK, type RpcCall, RpcError, reply, taskRun } from "./a2a-calls.ts";

export function pushOf({ id, url, token, authentication }: PushConfigWish, isOlder: boolean): PushConfig {
  return {
    id: id || randomUUID(),
    url,
    ...(token && { token }),
    ...(authentication && { authentication }),
    ...(isOlder && { isOlder }),
  };
}

export async function createPush(call: RpcCall): Promise<Response> {
  const { taskId, ...wish } = newPushConfig.parse(call.body.params);
  call.services.runs.checkWebhook(wish.url);
  const run = await taskRun(call, taskId);
  const push = pushOf(wish, call.isOlder);
  await call.services.records.hooks.setPush(call.owner, run.run_id, push);
  return reply(call, shown(taskId, push));
}

export async function getPush(call: RpcCall): Promise<Response> {
  const { taskId, push } = await namedPush(call);
  return reply(call, shown(taskId, push));
}

export async function listPush(call: RpcCall): Promise<Response> {
  const { taskId } = pushConfigOfTask.parse(call.body.params);
  const push = await pushAt(call, await taskRun(call, taskId));
  return reply(call, { configs: push ? [shown(taskId, push)] : [], nextPageToken: "" });
}

export async function deletePush(call: RpcCall): Promise<Response> {
  const { run } = await namedPush(call);
  await call.services.records.hooks.setPush(call.owner, run.run_id, null);
  return reply(call, {});
}

function shown(taskId: string, { isOlder: _, ...push }: PushConfig): object {
  return { taskId, ...push };
}

async function namedPush(call: RpcCall) {
  const { taskId, id } = pushConfigOfTask.parse(call.body.params);
  const run = await taskRun(call, taskId);
  const push = await pushAt(call, run);
  if (!push || (id && push.id !== id))
    throw new RpcError(NO_SUCH_TASK, "The task has no such configuration.");
  return { taskId, run, push };
}

async function pushAt({ services, owner }: RpcCall, run: RunHead): Promise<PushConfig | null | undefined> {
  return (await services.runs.get(owner, run.run_id))?.request.push;
}
