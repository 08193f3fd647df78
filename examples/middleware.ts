/** LangChain's middleware works unchanged: state of its own, hooks, wrapped calls. */
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { createMiddleware } from "langchain";
import { z } from "zod";

const countTurns = createMiddleware({
  name: "CountTurns",
  stateSchema: z.object({ turns: z.number().default(0) }),
  beforeModel: (state) => ({ turns: state.turns + 1 }),
});

const logTools = createMiddleware({
  name: "LogTools",
  wrapToolCall: async (request, handler) => {
    console.log("→", request.toolCall.name);
    return handler(request);
  },
});

const agent = createDeepAgent({
  model: scriptedModel([callTool("ls", { path: "/" }), "There is nothing here."]),
  middleware: [countTurns, logTools],
});

const result = await agent.invoke({ messages: [{ role: "user", content: "What is here?" }] });
console.log(`${result.turns} turns, outcome ${result.outcome.kind}`);
