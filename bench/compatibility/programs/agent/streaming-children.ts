/** Tokens and updates of subagents with `subgraphs: true`. */
import { createDeepAgent } from "library";
import { call, scripted } from "../../kit/scripted-model.ts";

const input = { messages: [{ role: "user", content: "go" }] };

function agentOf() {
  return createDeepAgent({
    name: "lead",
    model: scripted([call("task", { subagent_type: "helper", description: "Help." }), "end of lead"]),
    subagents: [
      { name: "helper", description: "Helps.", systemPrompt: "Help.", model: scripted(["end of helper"]) },
    ],
  });
}

export default async function program() {
  const words: unknown[] = [];
  const stream = await agentOf().stream(input, { streamMode: "messages", subgraphs: true });
  for await (const [namespace, [message, metadata]] of stream)
    if (message.getType() === "ai" && message.text)
      words.push([namespace.length, message.text, (metadata as { lc_agent_name?: string }).lc_agent_name]);
  const depths = new Map<string, number>();
  for await (const [namespace, mode, data] of await agentOf().stream(input, {
    streamMode: ["updates"],
    subgraphs: true,
  }))
    if (mode === "updates" && "model_request" in (data as object))
      depths.set(
        namespace[0]?.split(":")[0] ?? "root",
        (depths.get(namespace[0]?.split(":")[0] ?? "root") ?? 0) + 1,
      );
  return { words, depths: Object.fromEntries(depths) };
}
