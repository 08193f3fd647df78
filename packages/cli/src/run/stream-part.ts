/** The parts of an agent's stream, as far as the CLI looks into them. */

import type { AIMessage, AIMessageChunk, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { isRecord } from "deepwright/check-options";

/** A part of a `version: "v2"` stream. */
export interface StreamPart {
  readonly type: string;
  readonly ns: readonly string[];
  readonly data: unknown;
}

/** How many agents stand above the one a part is from: 0 for the main agent. */
export function depthOf({ ns }: StreamPart): number {
  return ns.filter((name) => name.startsWith("tools:")).length;
}

/** The run a part is from, as one text: the same for all parts of one subagent's run, empty for the main agent. */
export function runOf({ type, ns }: StreamPart): string {
  // A message has the namespace of its task.
  return (type === "messages" ? ns.slice(0, -1) : ns).join("|");
}

/** The name of the subagent a part is from; only messages tell it. */
export function agentNameOf(part: StreamPart): string | undefined {
  if (part.type !== "messages" || runOf(part) === "" || !Array.isArray(part.data)) return undefined;
  const name: unknown = part.data[1]?.lc_agent_name;
  return typeof name === "string" ? name : undefined;
}

/**
 * The updates of a part by node; a node that ran several tasks may have written several. A message that comes again
 * because a person edited its calls is left out.
 */
export function updatesOf(part: StreamPart): readonly Record<string, unknown>[] {
  if (part.type !== "updates" || !isRecord(part.data)) return [];
  return Object.entries(part.data)
    .filter(([node]) => node !== INTERRUPT && node !== APPROVAL_NODE)
    .flatMap(([, update]) => (Array.isArray(update) ? update : [update]))
    .filter(isRecord);
}

const APPROVAL_NODE = "approval";
export const INTERRUPT = "__interrupt__";

/** Interrupts a part reports, whichever kind of part it is. */
export function interruptsOf({ type, data }: StreamPart): readonly unknown[] {
  if ((type !== "updates" && type !== "values") || !isRecord(data)) return [];
  const found = data[INTERRUPT];
  return Array.isArray(found) ? found : [];
}

export function messagesOf(update: Record<string, unknown>): readonly BaseMessage[] {
  const { messages } = update;
  return (Array.isArray(messages) ? messages : [messages]).filter(isMessage);
}

/** The piece of a model's reply a part carries; undefined for all else. */
export function tokenOf(part: StreamPart): AIMessageChunk | undefined {
  if (part.type !== "messages" || !Array.isArray(part.data)) return undefined;
  const [token, metadata] = part.data as [unknown, Record<string, unknown> | undefined];
  if (!isMessage(token) || !isAi(token) || metadata?.lc_source === "summarization") return undefined;
  return "tool_call_chunks" in token ? (token as AIMessageChunk) : undefined;
}

/** By shape and not by class, so that two copies of LangChain do not matter. */
export function isMessage(value: unknown): value is BaseMessage {
  return isRecord(value) && typeof value.getType === "function" && "content" in value;
}

export function isAi(message: BaseMessage): message is AIMessage {
  return message.getType() === "ai";
}

export function isTool(message: BaseMessage): message is ToolMessage {
  return message.getType() === "tool";
}
