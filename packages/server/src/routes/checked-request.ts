/**
 * Checks what clients may ask of an agent. Refused: commands of the engine, its own configurable keys, and messages in the
 * name of anyone but the people who talk: a system message is an instruction, a tool message a result nobody computed.
 */
import type { Checkpoint, CreateRun, RunConfig } from "@deepwright/protocol";
import { invalid } from "../http/problems.ts";
import { clientMessages, isTuple } from "../runs/input/client-messages.ts";
import { refuseEngineObjects } from "../runs/input/engine-objects.ts";
import { withPlainMessages } from "../runs/input/plain-messages.ts";
import { refuseImpersonation } from "./sent-messages/impersonated-messages.ts";

/** Permissions of the endpoint. `tenants`: callers have separate data. */
export interface RequestLimits {
  readonly engineCommands: boolean;
  readonly tenants: boolean;
  /** Absent: a run gets a thread of its own. */
  readonly threadId?: string;
}

/** A run as it may begin. */
export function checkRun(request: Omit<CreateRun, "assistant_id">, limits: RequestLimits): void {
  const { engineCommands, threadId } = limits;
  const { command, input } = request;
  if (command != null) {
    if (!engineCommands && (command.update !== undefined || command.goto !== undefined))
      throw invalid("command.update and command.goto are not allowed on this server; command.resume is.");
    checkUpdate(command.update);
    checkGoto(command.goto);
    refuseEngineObjects(command.resume, "command.resume");
  }
  checkValues(input, "input");
  refuseEngineObjects(request.context, "context");
  checkConfig(request.config, limits);
  checkCheckpoint(request.checkpoint, threadId);
}

const OWN_KEYS = new Set([
  "checkpoint_ns",
  "checkpoint_map",
  "checkpoint_id",
  "checkpoint",
  "run_id",
  "fence",
]);

/** Also of assistants, whose configuration goes into their runs. */
export function checkConfig(
  config: RunConfig | null | undefined,
  { tenants, threadId }: Pick<RequestLimits, "tenants" | "threadId">,
): void {
  refuseEngineObjects(config?.configurable, "config.configurable");
  // Approvals lie under it: which of them count for a run is not for its caller to say.
  if (tenants && config?.configurable?.project !== undefined)
    throw invalid("config.configurable.project is not for clients to set.");
  for (const [key, value] of Object.entries(config?.configurable ?? {})) {
    const isOwnThread = key === "thread_id" && threadId !== undefined && value === threadId;
    if (isOwnThread) continue;
    if (key === "thread_id" || OWN_KEYS.has(key) || /^(?:__|langgraph_|deepwright_)/.test(key))
      throw invalid(`config.configurable.${key.slice(0, 64)} is not for clients to set.`);
  }
}

/** Only the thread's own graph: places inside it belong to the engine. */
export function checkCheckpoint(checkpoint: Checkpoint | null | undefined, threadId?: string): void {
  if (checkpoint == null) return;
  if (checkpoint.thread_id != null && checkpoint.thread_id !== threadId)
    throw invalid("checkpoint.thread_id must be the thread of the request.");
  if (checkpoint.checkpoint_ns) throw invalid("checkpoint.checkpoint_ns is not for clients to set.");
  if (checkpoint.checkpoint_map != null && Object.keys(checkpoint.checkpoint_map).some((ns) => ns !== ""))
    throw invalid("checkpoint.checkpoint_map is not for clients to set.");
}

/** Checks a client's update of a state. A list is the state of a graph that has messages and nothing else. */
export function checkValues(values: unknown, where = "values"): void {
  if (typeof values !== "object" || values === null) return;
  const plain = withPlainMessages(values) as object;
  refuseEngineObjects(plain, where);
  const fields = Array.isArray(plain) ? [[where, plain] as const] : Object.entries(plain);
  for (const [key, value] of fields)
    if (key === "messages") clientMessages(value);
    else refuseImpersonation(value, key);
}

/** By the engine: keys and values, as an object or as pairs. */
export function checkUpdate(update: unknown): void {
  const parts = Array.isArray(update) ? update : [update];
  for (const part of parts) checkValues(isTuple(part) ? { [part[0]]: part[1] } : part, "command.update");
}

/** Nodes by name, or with the state they are to begin with, as a `Send` is written. */
function checkGoto(goto: unknown): void {
  for (const target of [goto].flat()) {
    if (typeof target !== "object" || target === null) continue;
    const { lg_name: name, ...packet } = target as Record<string, unknown>;
    if (name !== undefined && name !== "Send")
      throw invalid("command.goto: must be names of nodes, or sends.");
    const states = Object.entries(packet).map(([key, given]) => [key, withPlainMessages(given)]);
    refuseEngineObjects(Object.fromEntries(states), "command.goto");
    for (const given of Object.values(packet)) checkValues(given, "command.goto");
  }
}

/** Keys of the state that the agent's own schema names as input. */
export function checkInputKeys(values: unknown, inputKeys: readonly string[]): void {
  if (values === null || values === undefined) return;
  if (typeof values !== "object" || Array.isArray(values)) throw invalid("values: must be an object.");
  const foreign = Object.keys(values).find((key) => !inputKeys.includes(key));
  if (foreign !== undefined)
    throw invalid(`values.${foreign.slice(0, 64)} is not input of this agent: ${inputKeys.join(", ")} are.`);
}

/** As `messages` of an agent, without building them. */
export function checkMessages(messages: unknown): void {
  refuseEngineObjects(messages, "messages");
  clientMessages(messages);
}
