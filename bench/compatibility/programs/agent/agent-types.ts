/** Types that take an agent apart. */
import { createMiddleware } from "langchain";
import {
  createDeepAgent,
  type InferDeepAgentSubagents,
  type InferDeepAgentType,
  type InferSubagentByName,
} from "library";
import { z } from "zod";
import { scripted } from "../../kit/scripted-model.ts";

const counting = createMiddleware({
  name: "Counting",
  stateSchema: z.object({ count: z.number().default(0) }),
});
const agent = createDeepAgent({
  model: scripted(() => "done"),
  subagents: [
    { name: "writer", description: "Writes.", systemPrompt: "Write.", middleware: [counting] },
    { name: "reader", description: "Reads.", systemPrompt: "Read." },
  ],
});

type Names = InferDeepAgentSubagents<typeof agent>[number]["name"];
type Writer = InferSubagentByName<typeof agent, "writer">;
type Tools = InferDeepAgentType<typeof agent, "Tools">;

export default async function program() {
  const name: Names = "writer";
  const writer: Writer["name"] = "writer";
  const tools: Tools["length"] = 0;
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  return { name, writer, tools, last: result.messages.at(-1)?.text };
}
