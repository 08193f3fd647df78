/**
 * The kinds of subagents: one that answers with data, one compiled from a graph, a fork that knows the conversation,
 * and one with a helper of its own. A general-purpose one is always there.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/delegation.ts
 */
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { createDeepAgent, createSubAgentMiddleware } from "deepwright";
import { callTool } from "deepwright/testing";
import { z } from "zod";
import { handOut, modelOrScript } from "./support/model.ts";

const judge = {
  name: "judge",
  description: "Says whether a text is friendly.",
  systemPrompt: "Judge the tone of the text you are given.",
  tools: [],
  responseFormat: z.object({ friendly: z.boolean(), why: z.string() }),
  model: modelOrScript([callTool("structured_response", { friendly: true, why: "It greets." })]),
};

const wordCount = new StateGraph(MessagesAnnotation)
  .addNode("count", ({ messages }) => {
    const words = messages.at(-1)?.text.split(/\s+/).length;
    return { messages: [new AIMessage(`${words} words`)] };
  })
  .addEdge("__start__", "count")
  .compile();
const counter = { name: "counter", description: "Counts the words of its task.", runnable: wordCount };

const colleague = {
  name: "colleague",
  description: "Goes on from this conversation, for a side question.",
  mode: "fork",
  model: modelOrScript(
    ({ messages }) => `We were told: ${messages.find(({ type }) => type === "human")?.text}`,
  ),
} as const;

const helper = { name: "helper", description: "Checks spelling.", model: modelOrScript(["No mistakes."]) };
const editor = {
  name: "editor",
  description: "Rewrites texts.",
  systemPrompt: "Have helper check the spelling, then report the text.",
  middleware: [createSubAgentMiddleware({ generalPurposeAgent: false, subagents: [helper] })],
  model: modelOrScript([handOut(["helper", "Check: Hello, friends"]), "Hello, friends."]),
};

const agent = createDeepAgent({
  subagents: [judge, counter, colleague, editor],
  model: modelOrScript([
    handOut(
      ["judge", "Hello, friends"],
      ["counter", "Hello, friends"],
      ["colleague", "What are we doing?"],
      ["editor", "Hello, friends"],
      ["translator", "Hello, friends"],
    ),
    "All of them have reported.",
  ]),
});
const { subagents } = agent.describe();
console.log(`team: ${subagents.map(({ name }) => name).join(", ")}`);

const order = "Try everybody on a greeting.";
const { messages } = await agent.invoke({ messages: [{ role: "user", content: order }] });
const asked = messages.flatMap((message) =>
  AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [],
);
for (const [i, { text }] of messages.filter(({ type }) => type === "tool").entries())
  console.log(`${asked[i]?.args.subagent_type}: ${text}`);
