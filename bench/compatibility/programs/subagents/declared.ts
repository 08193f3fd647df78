/** A declared subagent: what it sees, what it returns, which files come back. */
import { tool } from "@langchain/core/tools";
import { createDeepAgent, type SubAgent } from "library";
import { z } from "zod";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const lookUp = tool(({ word }) => `meaning of ${word}`, {
  name: "look_up",
  description: "Looks a word up.",
  schema: z.object({ word: z.string() }),
});

export default async function program() {
  const child = scripted([
    call("look_up", { word: "deep" }),
    call("write_file", { file_path: "/child.txt", content: "by the child" }),
    "the child's report",
  ]);
  const parent = scripted([
    call("write_file", { file_path: "/parent.txt", content: "by the parent" }),
    call("task", { subagent_type: "researcher", description: "Find out about deep." }),
    "all done",
  ]);
  const researcher: SubAgent = {
    name: "researcher",
    description: "Looks words up.",
    systemPrompt: "You are a researcher.",
    tools: [lookUp],
    model: child,
  };
  const agent = createDeepAgent({ model: parent, subagents: [researcher], systemPrompt: "You lead." });
  const result = await agent.invoke({ messages: [{ role: "user", content: "secret of the parent" }] });
  const seen = child.requests[0]?.messages ?? [];
  const task = parent.requests[0]?.tools.find((one) => one.name === "task");
  return {
    outline: outline(result.messages),
    report: results(result.messages, "task"),
    files: Object.keys(result.files ?? {}).sort(),
    childSees: seen.filter((one) => one.getType() !== "system").map((one) => one.text),
    childPrompt: child.requests[0]?.system.includes("You are a researcher."),
    childPromptOfParent: child.requests[0]?.system.includes("You lead."),
    childTools: child.requests[0]?.tools
      .map((one) => one.name)
      .filter((name) => name !== "write_todos")
      .sort(),
    parentTools: parent.requests[0]?.tools.some((one) => one.name === "look_up"),
    described: task?.description.includes("Looks words up."),
    generalPurpose: task?.description.includes("general-purpose"),
  };
}
