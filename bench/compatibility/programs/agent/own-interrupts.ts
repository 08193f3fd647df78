/** A tool that asks a question itself, and two threads at once. */
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const ask = tool(({ question }) => `answered: ${interrupt({ question })}`, {
  name: "ask",
  description: "Asks.",
  schema: z.object({ question: z.string() }),
});

export default async function program() {
  const model = scripted(({ messages }) =>
    messages.at(-1)?.getType() === "human" ? call("ask", { question: "colour?" }, "ask") : "thanks",
  );
  const agent = createDeepAgent({ model, tools: [ask], checkpointer: new MemorySaver() });
  const on = (thread: string) => ({ configurable: { thread_id: thread } });
  const input = { messages: [{ role: "user", content: "go" }] };
  const [first, second] = await Promise.all([agent.invoke(input, on("a")), agent.invoke(input, on("b"))]);
  const asked = (result: object) =>
    (result as { __interrupt__?: { value: unknown }[] }).__interrupt__?.map((one) => one.value);
  const state = await agent.graph.getState(on("a"));
  const ends = await Promise.all([
    agent.invoke(new Command({ resume: "red" }), on("a")),
    agent.invoke(new Command({ resume: "blue" }), on("b")),
  ]);
  return {
    asked: [asked(first), asked(second)],
    next: state.next,
    answers: ends.map((end) => results(end.messages, "ask")),
    outline: outline(ends[0]?.messages ?? []),
  };
}
