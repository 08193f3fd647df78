/** Conversations with calls that have no result, and results that have no call. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { createDeepAgent, createPatchToolCallsMiddleware } from "library";
import { scripted } from "../../kit/scripted-model.ts";

const history = () => [
  new HumanMessage("hi"),
  new AIMessage({
    content: "",
    tool_calls: [
      { id: "c1", name: "one", args: {}, type: "tool_call" },
      { id: "c2", name: "two", args: {}, type: "tool_call" },
    ],
  }),
  new ToolMessage({ tool_call_id: "c2", name: "two", content: "second" }),
  new HumanMessage("and now?"),
  new ToolMessage({ tool_call_id: "gone", name: "orphan", content: "?" }),
];

const order = (messages: readonly { getType(): string; name?: string }[]) =>
  messages
    .filter((one) => one.getType() !== "system")
    .map((one) => (one.getType() === "tool" ? `tool ${one.name}` : one.getType()));

export default async function program() {
  const inCreateAgent = scripted(["fine"]);
  const patch = createPatchToolCallsMiddleware();
  const plain = createAgent({ model: inCreateAgent, middleware: [patch] });
  const plainResult = await plain.invoke({ messages: history() });
  const inDeepAgent = scripted(["fine"]);
  const deepResult = await createDeepAgent({ model: inDeepAgent }).invoke({ messages: history() });
  return {
    sentByCreateAgent: order(inCreateAgent.requests[0]?.messages ?? []),
    keptByCreateAgent: order(plainResult.messages),
    sentByDeepAgent: order(inDeepAgent.requests[0]?.messages ?? []),
    keptByDeepAgent: order(deepResult.messages),
  };
}
