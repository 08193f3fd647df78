/** The stream modes of LangGraph on an agent with one tool call. */
import { tool } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { createDeepAgent } from "library";
import { z } from "zod";
import { call, scripted } from "../../kit/scripted-model.ts";

const work = tool(
  (_, config: LangGraphRunnableConfig) => {
    config.writer?.({ progress: 50 });
    return "worked";
  },
  { name: "work", description: "Works.", schema: z.object({}) },
);
const input = { messages: [{ role: "user", content: "go" }] };
const agentOf = () => createDeepAgent({ model: scripted([call("work", {}), "all is well"]), tools: [work] });

export default async function program() {
  const updates: string[] = [];
  for await (const update of await agentOf().stream(input, { streamMode: "updates" }))
    updates.push(...Object.keys(update));
  const lengths: number[] = [];
  for await (const values of await agentOf().stream(input, { streamMode: "values" }))
    lengths.push((values as { messages: unknown[] }).messages.length);
  const words: string[] = [];
  for await (const [message] of await agentOf().stream(input, { streamMode: "messages" }))
    if (message.getType() === "ai" && message.text) words.push(message.text);
  const custom: unknown[] = [];
  for await (const data of await agentOf().stream(input, { streamMode: "custom" })) custom.push(data);
  const modes = new Set<string>();
  for await (const [mode] of await agentOf().stream(input, { streamMode: ["values", "custom"] }))
    modes.add(mode);
  const events = new Set<string>();
  for await (const event of agentOf().streamEvents(input, { version: "v2" }))
    if (/chat_model|tool/.test(event.event)) events.add(`${event.event} ${event.name}`);
  return {
    nodes: updates.filter((name) => name === "model_request" || name === "tools"),
    lengths: [...new Set(lengths)],
    words,
    custom,
    modes: [...modes].sort(),
    events: [...events].map((name) => name.replace("ScriptedModel", "model")).sort(),
  };
}
