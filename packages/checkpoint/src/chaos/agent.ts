/** The agent of a worker: a model and tools that follow a plan and write down what they do. */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent, createFilesystemMiddleware } from "deepwright";
import { type ScriptedTurn, say, scriptedModel } from "deepwright/testing";
import { z } from "zod";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { recordEffect } from "./effects.ts";
import type { ClaimPlan, Plan } from "./plan.ts";

export function plannedAgent(saver: SharedSaver, plan: Plan, claim: ClaimPlan, log: string) {
  const count = tool(({ place }: { place: string }, runtime) => countTool(plan, log, place, runtime), {
    name: "count",
    description: "Counts.",
    schema: z.object({ place: z.string() }),
  });
  return createDeepAgent({
    model: scriptedModel(({ messages }) => reply(plan, log, messages), { check: { ids: true } }),
    tools: [count],
    checkpointer: saver,
    threadClaim: claim,
    interruptOn: plan.gated ? { count: true } : undefined,
    // What is compared are results as they were given.
    middleware: [
      createFilesystemMiddleware({ toolTokenLimitBeforeEvict: null }),
      { SummarizationMiddleware: false },
    ],
  });
}

/** The messages of a thread's last checkpoint. */
export async function messagesOf(saver: SharedSaver, thread: string): Promise<BaseMessage[]> {
  const tuple = await saver.getTuple({ configurable: { thread_id: thread } });
  return (tuple?.checkpoint.channel_values.messages ?? []) as BaseMessage[];
}

/** Ids of calls whose results are stored: first as a write of their task, later as a message of the thread. */
export async function storedCalls(saver: SharedSaver, thread: string): Promise<string[]> {
  const tuple = await saver.getTuple({ configurable: { thread_id: thread } });
  const written = (tuple?.pendingWrites ?? []).flatMap(([, channel, value]) =>
    channel === "messages" ? [value].flat() : [],
  );
  const messages = [...((tuple?.checkpoint.channel_values.messages ?? []) as BaseMessage[]), ...written];
  return messages.flatMap((message) => (ToolMessage.isInstance(message) ? [message.tool_call_id] : []));
}

/** One line a message, without the ids, which differ from run to run. */
export function outline(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    const places = calls.map(({ args }) => args.place);
    const failed = ToolMessage.isInstance(message) && message.status === "error" ? "failed" : "";
    return [message.type, failed, shortened(message.text), ...places].filter(Boolean).join(" ");
  });
}

/** The outline of a plan that was carried out. */
export function plannedOutline(plan: Plan): string[] {
  const turns = Array.from({ length: plan.turns }, (_, turn) => {
    const places = Array.from({ length: plan.callsPerTurn ?? 1 }, (_, index) => `${turn}.${index}`);
    const results = places.map((place) => `tool ${shortened(resultText(plan, place))}`);
    return [`ai Turn ${turn}. ${places.join(" ")}`, ...results];
  });
  return [`human ${plan.text}`, ...turns.flat(), `ai re: ${plan.text}`];
}

function shortened(text: string): string {
  return text.length <= 60 ? text : createHash("sha256").update(text).digest("hex");
}

/** The one tool: it leaves its call in the log, before anything else and after. `meanwhile` runs between them. */
export async function countTool(
  plan: Plan,
  log: string,
  place: string,
  runtime: object,
  meanwhile?: (id: string) => Promise<void>,
): Promise<string> {
  const id = callIdOf(runtime);
  recordEffect(log, "begin", place, id);
  await meanwhile?.(id);
  await pause(plan, place, plan.toolPause);
  recordEffect(log, "end", place, id);
  return resultText(plan, place);
}

/** The id of the call a tool runs for. */
export function callIdOf(runtime: object): string {
  return (runtime as { readonly toolCallId?: string }).toolCallId ?? "none";
}

/** Replies of the model. Ids are new in every process, so that a call that keeps its id has it from the thread. */
export async function reply(
  plan: Plan,
  log: string,
  messages: readonly BaseMessage[],
): Promise<ScriptedTurn> {
  const asked = messages.findLastIndex((message) => message.type === "human");
  const turn = messages.slice(asked).filter((message) => message.type === "ai").length;
  recordEffect(log, "model", String(turn));
  await pause(plan, String(turn), plan.modelPause);
  recordEffect(log, "said", String(turn));
  if (turn >= plan.turns) return say(`re: ${messages[asked]?.text}`);
  const calls = Array.from({ length: plan.callsPerTurn ?? 1 }, (_, index) => ({
    name: "count",
    args: { place: `${turn}.${index}` },
    id: `call-${randomUUID()}`,
  }));
  return { text: `Turn ${turn}.`, toolCalls: calls };
}

async function pause(plan: Plan, place: string, longest = 0): Promise<void> {
  if (plan.hangsAt === place) await sleep(2 ** 30);
  else if (longest > 0) await sleep(Math.random() * longest);
}

/** Noise that no compression makes smaller, and the same for a place of a plan whoever computes it. */
function resultText({ text, resultLength = 0 }: Plan, place: string): string {
  if (resultLength === 0) return `counted ${place}`;
  const noise = createHash("shake256", { outputLength: Math.ceil(resultLength / 2) });
  return `counted ${place} ${noise.update(`${text} ${place}`).digest("hex")}`;
}
