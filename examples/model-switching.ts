/**
 * Another model without another agent: chosen per run by the context, and by itself when one does not answer.
 *
 * With real models: MODEL=anthropic:claude-sonnet-4-6 SECOND_MODEL=openai:gpt-5.4 npx tsx --conditions=source
 * examples/model-switching.ts
 */
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, createModelFallbackMiddleware, createModelRetryMiddleware } from "deepwright";
import { fault, scriptedModel } from "deepwright/testing";
import { createMiddleware } from "langchain";
import { z } from "zod";

const { MODEL, SECOND_MODEL = MODEL } = process.env;
const models = {
  quick: MODEL || scriptedModel({ turns: ["About forty."], modelName: "quick" }),
  careful: SECOND_MODEL || scriptedModel({ turns: ["Forty-two."], modelName: "careful" }),
};

const choice = createMiddleware({
  name: "ModelChoice",
  contextSchema: z.object({ model: z.enum(["quick", "careful"]) }),
  wrapModelCall: (request, handler) =>
    handler({ ...request, model: models[request.runtime.context.model] as typeof request.model }),
});

const agent = createDeepAgent({ model: models.quick, middleware: [choice], checkpointer: new MemorySaver() });
const questions = { quick: "How much are six times seven?", careful: "Exactly, please." };
for (const [model, content] of Object.entries(questions)) {
  const config = { configurable: { thread_id: "sum-1" }, context: { model } };
  const { messages } = await agent.invoke({ messages: [{ role: "user", content }] }, config);
  const last = messages.at(-1);
  const { model_name: name } = (last?.response_metadata ?? {}) as { model_name?: string };
  console.log(`message ${messages.length}, from ${name}: ${last?.text}`);
}

const resilient = createDeepAgent({
  model: scriptedModel({ turns: [fault.status(503), fault.status(503)], modelName: "broken" }),
  middleware: [
    createModelRetryMiddleware({
      maxAttempts: 2,
      firstWait: 0.01,
      onRetry: ({ model, failure }) => console.log(`${model} failed (${failure.kind}) and is asked again`),
    }),
    createModelFallbackMiddleware({
      models: [SECOND_MODEL || scriptedModel({ turns: ["I am."], modelName: "spare" })],
      onFallback: ({ from, to }) => console.log(`${from} does not answer: ${to} is asked`),
    }),
  ],
});
const { messages } = await resilient.invoke({ messages: [{ role: "user", content: "Is anybody there?" }] });
console.log(messages.at(-1)?.text);
