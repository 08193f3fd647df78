/** A tool that throws. */
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outcome } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const explode = tool(
    () => {
      throw new TypeError("boom");
    },
    { name: "explode", description: "Explodes.", schema: z.object({}) },
  );
  const model = scripted([call("explode", {}), "done"]);
  const agent = createDeepAgent({ model, tools: [explode] });
  return { run: await outcome(() => agent.invoke({ messages: [{ role: "user", content: "go" }] })) };
}
