/**
 * Profiles fit an agent to its model: here one from a YAML file for all models of a provider, one in code for a single
 * model over it, and options the models are made with.
 *
 * With a real model: MODEL=openai:gpt-5.4 npx tsx --conditions=source examples/profiles.ts
 */
import {
  createDeepAgent,
  loadHarnessProfile,
  registerHarnessProfile,
  registerProviderProfile,
} from "deepwright";
import { callTool } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

const brief = loadHarnessProfile(new URL("openai.yaml", import.meta.url));
registerHarnessProfile("openai", brief);
registerHarnessProfile("openai:gpt-4o", {
  systemPromptSuffix: "Answer in one sentence.",
  excludedMiddleware: ["SummarizationMiddleware"],
});
registerProviderProfile("openai", { initOptions: { temperature: 0 } });

// Nothing is asked here: a model is made when it is first needed.
for (const model of ["anthropic:claude-sonnet-4-6", "openai:gpt-5.4", "openai:gpt-4o"]) {
  const { profiles, tools, middleware, systemPrompt } = createDeepAgent({ model }).describe();
  const parts = new Set([...tools, ...middleware].map(({ name }) => name));
  const missing = ["grep", "task", "SummarizationMiddleware"].filter((name) => !parts.has(name));
  console.log(`${model}: profiles ${profiles.join(" < ")}; without ${missing.join(", ") || "nothing"}`);
  console.log(`  last words: ${systemPrompt.split("\n").at(-1)?.slice(0, 30)}`);
}

// One agent alone: laid over whatever is registered. What is excluded cannot be called either.
const agent = createDeepAgent({
  profile: brief,
  model: modelOrScript([callTool("grep", { pattern: "x" }), "There is no such tool."]),
});
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Search for x with grep." }] });
for (const { type, text } of messages.slice(1)) if (text !== "") console.log(`${type}: ${text}`);
