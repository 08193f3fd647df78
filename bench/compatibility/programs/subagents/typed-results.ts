/** Subagents with a response format give JSON to their parent. */

import { toolStrategy } from "langchain";
import { createDeepAgent, SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY } from "library";
import { z } from "zod";
import { results } from "../../kit/look.ts";
import { call, type Request, scripted } from "../../kit/scripted-model.ts";

const schema = z.object({ finding: z.string(), confidence: z.number() });
const answer = ({ tools }: Request) => {
  const own = [
    "ls",
    "task",
    "execute",
    "delete",
    "glob",
    "grep",
    "write_todos",
    "read_file",
    "write_file",
    "edit_file",
  ];
  const extract = tools.find((one) => !own.includes(one.name));
  return extract ? call(extract.name, { finding: "42", confidence: 0.9 }) : "plain words";
};

export default async function program() {
  const parent = scripted([call("task", { subagent_type: "analyst", description: "Analyse." }), "done"]);
  const agent = createDeepAgent({
    model: parent,
    subagents: [
      {
        name: "analyst",
        description: "Analyses.",
        systemPrompt: "Analyse.",
        model: scripted(answer),
        responseFormat: toolStrategy(schema),
      },
    ],
  });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const asked = scripted([call("task", { subagent_type: "worker", description: "Work." }), "done"]);
  const worker = { name: "worker", description: "Works.", systemPrompt: "Work.", model: scripted(answer) };
  const dynamic = await createDeepAgent({ model: asked, subagents: [worker] }).invoke(
    { messages: [{ role: "user", content: "go" }] },
    { configurable: { [SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY]: toolStrategy(schema) } },
  );
  return {
    report: JSON.parse(results(result.messages, "task")[0] ?? "null"),
    dynamic: results(dynamic.messages, "task")[0],
  };
}
