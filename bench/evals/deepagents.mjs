/** deepagents as a harness under test, as it comes, with retries and limits of LangChain. */
import { readFileSync } from "node:fs";
import { interruptOn, subagent } from "@deepwright/evals";
import { createDeepAgent } from "deepagents";
import { callLimit, clientRetries } from "./langchain-limits.mjs";

const { version } = JSON.parse(
  readFileSync(new URL("../node_modules/deepagents/package.json", import.meta.url), "utf8"),
);

export const deepagents = {
  name: "deepagents",
  version,
  create: (setup) => {
    const { case: given, model, tools, checkpointer } = setup;
    return createDeepAgent({
      model,
      tools,
      checkpointer,
      middleware: [...clientRetries(), ...callLimit(given)],
      systemPrompt: given.systemPrompt,
      memory: given.memory,
      permissions: given.permissions?.map((rule) => ({ mode: "deny", ...rule })),
      interruptOn: interruptOn(setup),
      subagents: given.subagents?.map((child) => subagent(child, setup)),
      responseFormat: given.responseSchema,
    });
  },
};
