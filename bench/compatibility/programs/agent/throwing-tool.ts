/** A tool that throws. */
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "library";
import { z } from "zod";
import { failure } from "../../kit/look.ts";
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
  return { outcome: await failure(() => agent.invoke({ messages: [{ role: "user", content: "go" }] })) };
}
