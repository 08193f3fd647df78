/**
 * A supervisor that has research done in the background: it starts two tasks and goes on talking, gives one another
 * direction while it works, and is woken when they are done.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/async-research.ts
 */
import { once } from "node:events";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { backgroundTasks, createDeepAgent, registerGraph } from "deepwright";
import { callTool, type ScriptedRequest } from "deepwright/testing";
import { z } from "zod";
import { modelOrScript } from "./support/model.ts";

/** With the script, a page is found when its door is opened below; the one about whales takes for ever. */
const doors = { tides: new EventTarget(), dolphins: new EventTarget(), whales: new EventTarget() };
const opened = new Set<string>();
const open = (topic: keyof typeof doors) => {
  opened.add(topic);
  doors[topic].dispatchEvent(new Event("open"));
};

const search = tool(
  async ({ query }, { signal }) => {
    const door = process.env.MODEL ? undefined : doors[query as keyof typeof doors];
    if (door && !opened.has(query)) await once(door, "open", { signal });
    return `A page about ${query}.`;
  },
  { name: "search", description: "Search the web.", schema: z.object({ query: z.string() }) },
);

/** Searches for what it was told last. */
function research({ messages }: ScriptedRequest) {
  if (messages.at(-1)?.type === "tool") return `Report: ${messages.at(-1)?.text}`;
  const order = messages.findLast(({ type }) => type === "human")?.text ?? "";
  return callTool("search", { query: order.replace("Research ", "") });
}

registerGraph(
  "research",
  createDeepAgent({ name: "researcher", tools: [search], model: modelOrScript(research) }),
);

/** What the scripted supervisor does: it obeys, and looks at a task when it hears of its end. */
function supervise({ messages }: ScriptedRequest) {
  const last = messages.at(-1);
  const text = last?.text ?? "";
  const start = (description: string) => ({
    name: "start_async_task",
    args: { description, subagent_type: "researcher" },
  });
  if (text === "Look into whales and tides.")
    return { toolCalls: [start("Research whales"), start("Research tides")] };
  if (text === "Rather dolphins than whales.") return callTool("list_async_tasks");
  const [, whales] = /- (\S+) · .* · Research whales/.exec(text) ?? [];
  if (whales) return callTool("update_async_task", { task_id: whales, message: "Research dolphins" });
  const [, done] = /^\[Background task (\S+) .* is done/.exec(text) ?? [];
  if (done) return callTool("check_async_task", { task_id: done });
  if (/^Started/.test(text)) return "I have two researchers at work. What else?";
  if (/goes on/.test(text)) return "They look into dolphins now.";
  return last?.type === "tool" ? (text.split("\n").at(-1) ?? "") : "Forty-two.";
}

const agent = createDeepAgent({
  name: "supervisor",
  model: modelOrScript(supervise),
  checkpointer: new MemorySaver(),
  systemPrompt: "Have research done in the background, and tell the user what came out of it.",
  subagents: [{ name: "researcher", description: "Researches one topic.", graphId: "research" }],
});
const config = { configurable: { thread_id: "research" } };
const answer = async (messages: { role: string; content: string }[]) => {
  const { messages: all } = await agent.invoke({ messages }, config);
  console.log(`supervisor: ${all.at(-1)?.text}`);
};
const say = (content: string) => {
  console.log(`person: ${content}`);
  return answer([{ role: "user", content }]);
};

await say("Look into whales and tides.");
await say("What is six times seven?");
await say("Rather dolphins than whales.");

// Whoever runs the agent decides what happens when a task ends while nobody talks: here the supervisor is asked to go on.
const { mailbox } = backgroundTasks();
async function news() {
  if ((await mailbox.unread("research")).length === 0)
    await new Promise<void>((resolve) => {
      const leave = mailbox.listen(() => {
        leave();
        resolve();
      });
    });
  await answer([]);
}
open("tides");
await news();
open("dolphins");
await news();
const { values } = await agent.getState(config);
for (const { description, status } of Object.values(values.asyncTasks as Record<string, any>))
  console.log(`${description}: ${status}`);
