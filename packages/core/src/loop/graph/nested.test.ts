/** An agent inside another graph: as a node, and in a tool of another agent. */
import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { callTool, say } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, onThread, outline, scripted } from "../fixtures/agents.ts";
import type { AgentGraph } from "./agent-graph.ts";

const T = onThread("t");

/** An agent that calls a tool which asks and one which does not, side by side. */
function asking() {
  const ended: string[] = [];
  const tools = [
    anyTool("asks", () => `answer: ${interrupt("Well?")}`),
    anyTool("works", () => {
      ended.push("works");
      return "worked";
    }),
  ];
  const calls = { toolCalls: [{ name: "asks" }, { name: "works" }] };
  return { ended, child: scripted([calls, say("child done")], { tools }).agent };
}

type Parent = Pick<AgentGraph, "invoke">;

function inTool(run: (config: object) => Promise<unknown>): Parent {
  const delegate = anyTool("delegate", async (_, config) => {
    const { messages } = (await run(config)) as AgentState;
    return outline(messages).join(", ");
  });
  const script = [callTool("delegate"), say("done")];
  return scripted(script, { tools: [delegate], checkpointer: new MemorySaver() }).agent;
}

test.each<[string, (child: AgentGraph) => Parent]>([
  [
    "a node of a stock graph",
    (child) =>
      new StateGraph(MessagesAnnotation)
        .addNode("child", child as never)
        .addEdge(START, "child" as never)
        .compile({ checkpointer: new MemorySaver() }) as unknown as Parent,
  ],
  ["in a tool, with its config", (child) => inTool((config) => child.invoke(ask(), config))],
  ["in a tool, without", (child) => inTool(() => child.invoke(ask()))],
])("a question of a child comes up, and its answer runs no finished call again: %s", async (_, parentOf) => {
  const { child, ended } = asking();
  const parent = parentOf(child);
  const paused = (await parent.invoke(ask(), T)) as AgentState;
  expect(paused.__interrupt__).toMatchObject([{ value: "Well?" }]);
  const { messages } = (await parent.invoke(new Command({ resume: "yes" }), T)) as AgentState;
  expect(messages.map(({ text }) => text).join()).toMatch(/child done/);
  expect(ended).toEqual(["works"]);
});
