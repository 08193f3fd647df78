/** A2A: agents as others call them, by JSON-RPC. Requests are as 1.0 has them; those of 0.3 are translated before. */
import { z } from "zod";
import { identifier } from "../ids.ts";

export const agentCardQuery = z.object({
  assistant_id: identifier.optional().describe("Default: the first agent of the server."),
});

export const agentCard = z.record(z.string(), z.unknown()).describe("An agent card of A2A 1.0.");

export const rpcRequest = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string().max(256), z.number()]),
  method: z
    .string()
    .min(1)
    .max(64)
    .describe(
      "`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, and `Create…`, `Get…` and `DeleteTaskPushNotificationConfig`, `ListTaskPushNotificationConfigs`. Also the names of A2A 0.3, such as `message/send`.",
    ),
  params: z.record(z.string(), z.unknown()).nullish(),
});
export type RpcRequest = z.infer<typeof rpcRequest>;

const part = z.looseObject({
  text: z.string().optional(),
  data: z.unknown().optional(),
  raw: z.string().optional(),
  url: z.string().optional(),
});

/** A value of a header. */
const visible = z
  .string()
  .regex(/^[\x20-\x7e]*$/)
  .max(4_096);

const pushConfigWish = z.object({
  id: z.string().max(128).optional(),
  url: z.string().min(1).max(2_048).describe("Called when a run of the task has ended."),
  token: visible.optional().describe("Sent as `X-A2A-Notification-Token`."),
  authentication: z
    .object({ scheme: visible.min(1), credentials: visible.optional() })
    .nullish()
    .describe("Sent as `Authorization`."),
});
export type PushConfigWish = z.infer<typeof pushConfigWish>;

/** Parameters of `CreateTaskPushNotificationConfig`. */
export const newPushConfig = pushConfigWish.extend({ taskId: identifier });

/** Parameters of the other methods about notifications. */
export const pushConfigOfTask = z.looseObject({ taskId: identifier, id: z.string().max(128).optional() });

/** Parameters of `ListTasks`. Times and tokens are as this server sends them. */
export const listedTasks = z.looseObject({
  contextId: identifier.describe("Tasks of all contexts together are not listed."),
  status: z.string().max(64).optional(),
  pageSize: z.int().min(1).max(100).optional(),
  pageToken: z
    .string()
    .regex(/^\d{0,6}$/)
    .optional(),
  statusTimestampAfter: z.string().max(64).nullish(),
  includeArtifacts: z.boolean().optional(),
});

/** Parameters of `SendMessage` and `SendStreamingMessage`. */
export const sentMessage = z.looseObject({
  message: z.looseObject({
    messageId: identifier,
    contextId: identifier.optional().describe("The thread. Absent: a new one."),
    taskId: identifier.optional().describe("A task that waits for input, which the message is."),
    role: z.literal("ROLE_USER"),
    parts: z.array(part).min(1).max(256),
  }),
  configuration: z
    .looseObject({
      returnImmediately: z.boolean().optional(),
      taskPushNotificationConfig: pushConfigWish.nullish(),
    })
    .optional(),
});

/** Parameters of `GetTask` and `CancelTask`. */
export const namedTask = z.looseObject({ id: identifier });
