/** Turns a request into the agent's input and the config of its run. */

import type { Assistant, CreateRun, StreamMode } from "@deepwright/protocol";
import { Command, type RunControl } from "@langchain/langgraph";
import { isRecord } from "deepwright/check-options";
import type { CallMetrics } from "../../metrics/call-metrics.ts";
import type { RunRecord } from "../../records/records.ts";
import { agentScope } from "../tenants.ts";
import { clientGoto, clientUpdate, clientValues } from "./client-messages.ts";
import { refuseEngineObjects } from "./engine-objects.ts";
import { withPlainMessages } from "./plain-messages.ts";

/** Where savers and loops find the claim on a thread. */
export const CLAIM_KEY = "__deepwright_claim";

/** Keys of `configurable` that the server sets, or the engine. */
const OWN_KEYS = new Set([
  "thread_id",
  "run_id",
  "assistant_id",
  "graph_id",
  "user_id",
  "checkpoint",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
]);

/** `configurable` without keys that clients may not set. Routes refuse those already; this is a second check. */
export function clientConfigurable(given: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(
      ([key]) => !key.startsWith("__") && !key.startsWith("langgraph_auth") && !OWN_KEYS.has(key),
    ),
  );
}

/** Whether it answers an interrupt. `null` is an answer too, unless it stands beside other commands, where it means none. */
export function givesAnswer({ command }: Pick<CreateRun, "command">): boolean {
  if (command == null || command.resume === undefined) return false;
  return command.resume !== null || (command.update === undefined && command.goto === undefined);
}

/**
 * The input of a first attempt; null continues from the present state of the thread. Only here does a client's request
 * become a command: a request that was stored long ago is plain data with plain messages too.
 */
export function runInput(request: Pick<CreateRun, "command" | "input">): unknown {
  const { command, input } = request;
  refuseEngineObjects(withPlainMessages(input), "input");
  const isAnswer = givesAnswer(request);
  if (command && (isAnswer || command.update !== undefined || command.goto !== undefined))
    return new Command({
      ...(isAnswer && { resume: command.resume }),
      ...(command.update !== undefined && { update: clientUpdate(command.update) as never }),
      ...(command.goto !== undefined && { goto: clientGoto(command.goto) as never }),
    });
  return clientValues(input) ?? null;
}

export interface ConfigParts {
  readonly run: RunRecord;
  readonly assistant: Assistant;
  readonly signal: AbortSignal;
  readonly control: RunControl;
  /** The claim on the thread, where the saver gives claims. */
  readonly claim?: unknown;
  /** Nodes to halt before; the engine reads the list at every step. */
  readonly stops: string[] | "*";
  /** Hears calls of models and tools. */
  readonly callbacks?: CallMetrics | undefined;
}

/** The checkpoint from which the client wants to start. */
export function chosenCheckpoint({
  checkpoint,
  checkpoint_id,
}: Pick<CreateRun, "checkpoint" | "checkpoint_id">): {
  readonly checkpoint_id?: string;
} {
  const id = checkpoint?.checkpoint_id ?? checkpoint_id;
  return id === undefined || id === null ? {} : { checkpoint_id: id };
}

/** The options of `stream`, but for its modes. */
export function runConfig({ run, assistant, signal, control, claim, stops, callbacks }: ConfigParts) {
  const { request } = run;
  const { graph_id } = assistant;
  const { recursion_limit, tags } = { ...assistant.config, ...(request.config ?? {}) };
  const user = { ...run.user, identity: run.owner };
  const context = contextOf(assistant, request);
  const { assistantId, tenant } = agentScope(run.owner, assistant);
  const given = {
    ...clientConfigurable(assistant.config.configurable),
    ...clientConfigurable(request.config?.configurable),
  };
  // Callers have no say in which approvals count; routes refuse it, this makes sure.
  if (tenant !== undefined) delete given.project;
  return {
    runId: run.run_id,
    signal,
    control,
    ...(recursion_limit !== undefined && { recursionLimit: recursion_limit }),
    tags: [...new Set([...(assistant.config.tags ?? []), ...(tags ?? [])])],
    metadata: { ...clientMetadata(assistant, request), run_attempt: run.attempts },
    ...(context !== undefined && { context }),
    ...(callbacks && { callbacks: [callbacks] }),
    interruptBefore: stops,
    ...(request.interrupt_after && { interruptAfter: request.interrupt_after }),
    // The results of a step are stored before the next one begins: a process may be killed at any time.
    durability: request.durability ?? (request.checkpoint_during === false ? "exit" : "sync"),
    serverInfo: { assistantId, graphId: graph_id, user, ...(tenant !== undefined && { tenant }) },
    configurable: {
      ...given,
      thread_id: run.thread_id,
      run_id: run.run_id,
      assistant_id: assistantId,
      graph_id,
      user_id: run.owner,
      langgraph_auth_user: user,
      langgraph_auth_user_id: run.owner,
      ...(claim !== undefined && { [CLAIM_KEY]: claim }),
    } as Record<string, unknown>,
  };
}

/** Agents look there for the id of their assistant, which is not the client's to say. */
function clientMetadata(assistant: Assistant, { metadata }: CreateRun): Record<string, unknown> {
  const { assistant_id: _, assistantId: __, ...said } = { ...assistant.metadata, ...metadata };
  return said;
}

/** Settings of the request win over those of the assistant. */
function contextOf(assistant: Assistant, { context }: CreateRun): unknown {
  if (!isRecord(context)) return context ?? (isEmpty(assistant.context) ? undefined : assistant.context);
  return isRecord(assistant.context) ? { ...assistant.context, ...context } : context;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** The modes of a request; `values` without any. */
export function requestedModes({ stream_mode }: CreateRun): readonly StreamMode[] {
  if (stream_mode === undefined || stream_mode === null) return ["values"];
  return typeof stream_mode === "string" ? [stream_mode] : [...new Set(stream_mode)];
}
