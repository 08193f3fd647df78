/** The last word of an agent as data: a bad answer goes back to the model with the reason. */
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { z } from "zod";

const Verdict = z.object({ sentiment: z.enum(["good", "bad"]), confidence: z.number().min(0).max(1) });

const agent = createDeepAgent({
  model: scriptedModel([
    callTool("structured_response", { sentiment: "good", confidence: 7 }),
    callTool("structured_response", { sentiment: "good", confidence: 0.7 }),
  ]),
  responseFormat: Verdict,
});

const { structuredResponse } = await agent.invoke({ messages: [{ role: "user", content: "I like it." }] });
console.log(structuredResponse.sentiment, structuredResponse.confidence);
