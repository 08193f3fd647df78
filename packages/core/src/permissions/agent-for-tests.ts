/** Agents under permissions, and what their calls were answered. */
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { callTool, type Script, say, scriptedModel } from "../testing/index.ts";

export const ask = (text = "Go."): { messages: BaseMessage[] } => ({ messages: [new HumanMessage(text)] });

export const onThread = (id: string): { configurable: { thread_id: string } } => ({
  configurable: { thread_id: id },
});

export type Args = Record<string, unknown>;
export type CallList = readonly (readonly [tool: string, args: Args])[];

/** An agent that makes these calls, each in a turn of its own, then says done. */
export function callingAgent(calls: CallList, options: Partial<CreateDeepAgentParams> = {}) {
  const script: Script = [...calls.map(([name, args]) => callTool(name, args)), say("done")];
  const model = scriptedModel(script);
  return { model, agent: createDeepAgent({ model, ...options } as CreateDeepAgentParams) };
}

export const resultsIn = (messages: readonly BaseMessage[]): ToolMessage[] =>
  messages.filter((message) => ToolMessage.isInstance(message));

/** The text of each result, in order. */
export async function answersOf(
  calls: CallList,
  options: Partial<CreateDeepAgentParams> = {},
  config: object = {},
): Promise<string[]> {
  const { messages } = await callingAgent(calls, options).agent.invoke(ask(), config);
  return resultsIn(messages).map((message) => message.text);
}

/** One line: refused, or done. */
export async function verdictsOf(
  calls: CallList,
  options: Partial<CreateDeepAgentParams> = {},
): Promise<string[]> {
  return (await answersOf(calls, options)).map((text) =>
    text.startsWith("Error: permission denied") ? "denied" : "done",
  );
}
