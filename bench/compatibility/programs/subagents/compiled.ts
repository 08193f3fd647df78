/** Subagents that are agents or graphs already. */
import { AIMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { createAgent } from "langchain";
import { createDeepAgent, createSubAgent } from "library";
import { results } from "../../kit/look.ts";
import { scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const given: unknown[] = [];
  const lambda = RunnableLambda.from((input: { messages: { text: string }[] }) => {
    given.push(input.messages.map((message) => message.text));
    return { messages: [new AIMessage("from a function")] };
  });
  const plain = createAgent({ model: scripted(["from createAgent"]), name: "plain" });
  const nested = createDeepAgent({ model: scripted(["from a deep agent"]) });
  const made = createSubAgent({
    name: "made",
    description: "made by hand",
    systemPrompt: "Made.",
    model: scripted(["from createSubAgent"]),
    tools: [],
  });
  const kinds = ["function", "plain", "nested", "made"];
  const model = scripted([
    {
      calls: kinds.map((kind) => ({
        name: "task",
        args: { subagent_type: kind, description: `work of ${kind}` },
      })),
    },
    "done",
  ]);
  const agent = createDeepAgent({
    model,
    subagents: [
      { name: "function", description: "a function", runnable: lambda },
      { name: "plain", description: "an agent", runnable: plain },
      { name: "nested", description: "a deep agent", runnable: nested },
      { name: "made", description: "a made one", runnable: made },
    ],
  });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const direct = await made.invoke({ messages: [{ role: "user", content: "directly" }] });
  return {
    given,
    reports: results(result.messages, "task"),
    direct: direct.messages.at(-1)?.text,
  };
}
