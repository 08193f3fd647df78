/** Several subagents in one turn, the general one among them. */
import { createDeepAgent } from "library";
import { outline, results } from "../../kit/look.ts";
import { call, type Request, scripted } from "../../kit/scripted-model.ts";

const task = (type: string, description: string) => ({
  name: "task",
  args: { subagent_type: type, description },
});

function answer({ messages, turn }: Request) {
  const question = messages.filter((one) => one.getType() === "human").at(-1)?.text ?? "";
  const answered = messages.some((one) => one.getType() === "tool");
  if (question.startsWith("write") && !answered)
    return call("write_file", { file_path: `/${question.slice(6)}.txt`, content: question }, `w${turn}`);
  return `report on ${question}`;
}

export default async function program() {
  const worker = scripted(answer);
  const parent = scripted([
    { calls: [task("worker", "write a"), task("worker", "write b"), task("general-purpose", "think")] },
    "done",
  ]);
  const agent = createDeepAgent({
    model: parent,
    subagents: [
      { name: "worker", description: "Writes.", systemPrompt: "Write.", model: worker },
      { name: "general-purpose", description: "Ours.", systemPrompt: "Think.", model: worker },
    ],
  });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const reports = results(result.messages, "task");
  return {
    outline: outline(result.messages),
    reports,
    files: Object.entries(result.files ?? {})
      .map(([path, file]) => [path, file.content])
      .sort(),
  };
}
