/** Agents with subagents for tests: models that react to who is asked and with what. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import {
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
  say,
  scriptedModel,
  type Turn,
} from "../testing/index.ts";

export interface TaskArguments {
  readonly description: string;
  readonly subagent_type?: string;
}

export function taskCall(description: string, type = "general-purpose", id?: string): ScriptedCall {
  return { name: "task", args: { description, subagent_type: type }, ...(id && { id }) };
}

/** A turn that hands out several tasks. */
export function tasks(...calls: readonly ScriptedCall[]): Turn {
  return { toolCalls: [...calls] };
}

/** The first thing a person said in the conversation of a request: a child's task. */
export function orderOf({ messages }: Pick<ScriptedRequest, "messages">): string {
  return messages.find((message) => HumanMessage.isInstance(message))?.text ?? "";
}

/** How many results of tools the request holds. */
export function resultsIn({ messages }: Pick<ScriptedRequest, "messages">): number {
  return messages.filter((message) => ToolMessage.isInstance(message)).length;
}

export type Act = (request: ScriptedRequest, step: number) => Turn | Promise<Turn>;

/**
 * One model for a whole tree: each conversation is answered by the act whose key its first words begin with,
 * told how many of its own turns came before.
 */
export function troupe(
  acts: Record<string, Act>,
  options: Partial<ScriptedModelOptions> = {},
): ScriptedModel {
  return scriptedModel(
    (request) => {
      const order = orderOf(request);
      const key = Object.keys(acts).find((candidate) => order.startsWith(candidate));
      if (key === undefined) return say(`nobody plays '${order}'`);
      const step = request.messages.filter((message) => message.type === "ai").length;
      return (acts[key] as Act)(request, step);
    },
    { check: { ids: true }, ...options },
  );
}

/** Takes its turns in order, the last one again and again. */
export function acts(...turns: readonly Turn[]): Act {
  return (_, step) => turns[Math.min(step, turns.length - 1)] as Turn;
}

export function anyTool(name: string, body: (args: any, runtime: any) => unknown) {
  return tool(body as never, { name, description: `The tool ${name}.`, schema: z.looseObject({}) } as never);
}

export const asked = (text: string) => ({ messages: [new HumanMessage(text)] });

export function resultsOf(state: { messages: readonly unknown[] }): ToolMessage[] {
  return state.messages.filter((message) => ToolMessage.isInstance(message)) as ToolMessage[];
}
