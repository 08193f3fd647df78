/** Watch an agent: tokens, updates and progress of tools in one stream. */
import { type ToolRuntime, tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { z } from "zod";

const count = tool(
  async ({ to }, runtime: ToolRuntime) => {
    for (let i = 1; i <= to; i += 1) runtime.writer?.({ counted: i });
    return `counted to ${to}`;
  },
  { name: "count", description: "Count.", schema: z.object({ to: z.number() }) },
);

const agent = createDeepAgent({
  model: scriptedModel([callTool("count", { to: 2 }), "Counted."]),
  tools: [count],
});

const stream = await agent.stream(
  { messages: [{ role: "user", content: "Count to two." }] },
  { version: "v2", streamMode: ["messages", "updates", "custom"] },
);
for await (const { type, data } of stream) {
  if (type === "messages") process.stdout.write(data[0].text);
  if (type === "custom") console.log("progress", data);
  if (type === "updates") console.log("finished", Object.keys(data).join(", "));
}
