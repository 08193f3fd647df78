/** A forked subagent goes on with the conversation of its parent. */
import { createDeepAgent, type ForkedSubAgent } from "library";
import { outcome } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const child = scripted(["forked report"]);
  const parent = scripted([
    { text: "thinking", ...call("ls", { path: "/" }) },
    call("task", { subagent_type: "fork", description: "Go on from here." }),
    "done",
  ]);
  const fork: ForkedSubAgent = {
    name: "fork",
    description: "Goes on.",
    mode: "fork",
    systemPrompt: "Extra of the fork.",
    model: child,
  };
  const agent = createDeepAgent({ model: parent, subagents: [fork], systemPrompt: "Prompt of the parent." });
  const result = await agent.invoke({ messages: [{ role: "user", content: "the question" }] });
  const seen = child.requests[0]?.messages.filter((one) => one.getType() !== "system") ?? [];
  return {
    last: result.messages.at(-1)?.text,
    sees: seen.map((one) => one.getType()).slice(0, 3),
    seesQuestion: seen[0]?.text,
    seesTask: seen.at(-1)?.text.includes("Go on from here."),
    prompts: ["Prompt of the parent.", "Extra of the fork."].map((part) =>
      child.requests[0]?.system.includes(part),
    ),
    withSkills: await outcome(() =>
      createDeepAgent({ model: parent, subagents: [{ ...fork, skills: ["/skills/"] }] }),
    ),
  };
}
