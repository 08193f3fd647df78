/** A2A 0.3 as a form of 1.0: other names of methods, states and parts, and a `kind` on everything. Pure. */
import type { RpcRequest } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";

const METHODS: Readonly<Record<string, string>> = {
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
};

/** Undefined: the request is not of 0.3. */
export function newerRequest(request: RpcRequest): RpcRequest | undefined {
  const method = Object.hasOwn(METHODS, request.method) ? METHODS[request.method] : undefined;
  if (method === undefined) return undefined;
  const params = request.params ?? {};
  return { ...request, method, params: newerParams(method, params) };
}

function newerParams(method: string, params: Record<string, unknown>): Record<string, unknown> {
  const { message, configuration, id, pushNotificationConfig, pushNotificationConfigId } = params;
  if (method.startsWith("Send"))
    return { message: newerMessage(message), configuration: newerConfiguration(configuration) };
  if (method.startsWith("Create")) return { ...newerPush(pushNotificationConfig), taskId: params.taskId };
  if (method.includes("Push")) return { taskId: id, id: pushNotificationConfigId };
  return { id };
}

function newerMessage(given: unknown): unknown {
  if (!isRecord(given)) return given;
  const { messageId, contextId, taskId, role, parts } = given;
  return { messageId, contextId, taskId, role: role === "user" ? "ROLE_USER" : role, parts };
}

function newerConfiguration(given: unknown): Record<string, unknown> {
  const { blocking, pushNotificationConfig } = isRecord(given) ? given : {};
  const push = pushNotificationConfig == null ? undefined : newerPush(pushNotificationConfig);
  return { returnImmediately: blocking === false, ...(push && { taskPushNotificationConfig: push }) };
}

function newerPush(given: unknown): Record<string, unknown> {
  if (!isRecord(given)) return {};
  const { schemes, credentials } = isRecord(given.authentication) ? given.authentication : {};
  const scheme = Array.isArray(schemes) ? schemes[0] : undefined;
  return { ...given, authentication: scheme === undefined ? undefined : { scheme, credentials } };
}

/** An answer, or an event of a stream, as 0.3 has it. */
export function olderResult(result: object): unknown {
  const { task, statusUpdate, artifactUpdate, configs, status, url, taskId, ...rest } = result as Record<
    string,
    unknown
  >;
  if (isRecord(task)) return olderTask(task);
  if (isRecord(status)) return olderTask(result);
  if (isRecord(statusUpdate))
    return { ...statusUpdate, kind: "status-update", status: olderStatus(statusUpdate.status), final: true };
  if (isRecord(artifactUpdate))
    return { ...artifactUpdate, kind: "artifact-update", artifact: withKinds(artifactUpdate.artifact) };
  if (Array.isArray(configs)) return configs.map((config) => olderResult(config as object));
  if (typeof url !== "string") return null;
  const { authentication, ...config } = rest;
  const { scheme, credentials } = isRecord(authentication) ? authentication : {};
  const shown = scheme === undefined ? {} : { authentication: { schemes: [scheme], credentials } };
  return { taskId, pushNotificationConfig: { ...config, url, ...shown } };
}

export function olderTask(task: object): object {
  const { status, artifacts } = task as {
    readonly status?: unknown;
    readonly artifacts?: readonly unknown[];
  };
  return {
    ...task,
    kind: "task",
    status: olderStatus(status),
    ...(artifacts && { artifacts: artifacts.map(withKinds) }),
  };
}

function olderStatus(given: unknown): unknown {
  if (!isRecord(given)) return given;
  const { state, message } = given;
  const name = String(state)
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  const shown = isRecord(message)
    ? { ...(withKinds(message) as object), kind: "message", role: "agent" }
    : undefined;
  return { ...given, state: name, ...(shown && { message: shown }) };
}

/** A message or an artifact with parts that say their kind. */
function withKinds(given: unknown): unknown {
  if (!isRecord(given) || !Array.isArray(given.parts)) return given;
  const parts = given.parts.map((part: object) => ({ kind: "text" in part ? "text" : "data", ...part }));
  return { ...given, parts };
}
