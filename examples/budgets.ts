/**
 * A leash: what a run may cost with everything its subagents do. At the limit it ends with what it has, and an agent
 * with a higher one goes on from there.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/budgets.ts
 */
import { MemorySaver } from "@langchain/langgraph";
import { type Budget, createDeepAgent } from "deepwright";
import { callTool } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

const order = { subagent_type: "writer", description: "Write a line about the sea to /sea.md." };
const writer = {
  name: "writer",
  description: "Writes one line to a file.",
  systemPrompt: "Write the line, then report the path.",
  model: modelOrScript([
    callTool("write_file", { file_path: "/sea.md", content: "Deep.\n" }),
    "See /sea.md.",
  ]),
};
const model = modelOrScript([
  callTool("task", order),
  callTool("read_file", { file_path: "/sea.md" }),
  "It is deep.",
]);
const checkpointer = new MemorySaver();
const thread = { configurable: { thread_id: "sea-1" } };

/** Prices are dollars for a million tokens; those of well-known models are built in. */
function agentWith(limits: Budget) {
  const budget = { ...limits, prices: { scripted: { input: 3, output: 15 } } };
  return createDeepAgent({ model, subagents: [writer], checkpointer, budget });
}

async function run(limits: Budget, messages: object[]): Promise<void> {
  const { outcome, messages: all, files } = await agentWith(limits).invoke({ messages }, thread);
  console.log(
    `${outcome.kind}: ${outcome.detail ?? all.at(-1)?.text} Files: ${Object.keys(files).join(", ")}`,
  );
  for (const { agentPath, calls, cost } of outcome.usage?.agents ?? [])
    console.log(
      `  ${["main", ...agentPath].join(" → ")}: ${calls} of ${outcome.usage?.calls} calls, $${cost.toFixed(3)}`,
    );
}

await run({ maxSteps: 3 }, [{ role: "user", content: "Have a line about the sea written, and read it." }]);
await run({ maxSteps: 10, maxCost: 1 }, []); // The same run goes on, with what it has used.
