/** The agent as a part of other graphs, and what it says about itself. */
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { type CreateDeepAgentParams, createDeepAgent, type DeepAgent } from "library";
import { outline } from "../../kit/look.ts";
import { scripted } from "../../kit/scripted-model.ts";

const input = { messages: [{ role: "user", content: "go" }] };

export default async function program() {
  const params = { model: scripted(() => "inside"), name: "inner" } satisfies CreateDeepAgentParams;
  const agent = createDeepAgent(params);
  const known: DeepAgent | undefined = createDeepAgent({
    model: scripted(() => "x"),
  }) as unknown as DeepAgent;
  const outer = new StateGraph(MessagesAnnotation)
    .addNode("agent", async (state) => {
      const { messages } = await agent.invoke({ messages: state.messages });
      return { messages: messages.slice(state.messages.length) };
    })
    .addEdge("__start__", "agent")
    .compile();
  const result = await outer.invoke(input);
  const mermaid = await agent.drawMermaid();
  const configured = agent.withConfig({ recursionLimit: 50, tags: ["tagged"] });
  const second = await configured.invoke(input);
  return {
    outline: outline(result.messages),
    mermaid: ["__start__", "__end__", "tools"].map((name) => mermaid.includes(name)),
    options: [typeof agent.options, agent.options?.name],
    known: typeof known?.invoke,
    configured: outline(second.messages),
    graph: typeof agent.graph,
  };
}
