/**
 * LangChain's createAgent as a harness under test, put together as a careful team would: plain file tools on the state,
 * LangChain's own middleware for todos, summaries, errors of tools, approvals and limits, and memory files in the prompt.
 */
import { readFileSync } from "node:fs";
import { interruptOn } from "@deepwright/evals";
import {
  createAgent as create,
  humanInTheLoopMiddleware,
  summarizationMiddleware,
  todoListMiddleware,
  toolErrorMiddleware,
} from "langchain";
import { filesMiddleware, tools as fileTools } from "../contenders/create-agent.mjs";
import { callLimit, clientRetries } from "./langchain-limits.mjs";

const { version } = JSON.parse(
  readFileSync(new URL("../node_modules/langchain/package.json", import.meta.url), "utf8"),
);

export const createAgent = {
  name: "createAgent",
  version,
  create: (setup) => {
    const { case: given, model, tools, checkpointer } = setup;
    const offered = fileTools.filter(({ name }) => given.builtInTools?.includes(name) ?? true);
    return create({
      model,
      tools: [...offered, ...tools],
      checkpointer,
      middleware: [
        filesMiddleware,
        todoListMiddleware(),
        summarizationMiddleware({
          model,
          trigger: { fraction: 0.8 },
          keep: { fraction: 0.2 },
          trimTokensToSummarize: 100_000,
        }),
        ...approvals(setup),
        toolErrorMiddleware({ onError: (error) => `Error: ${error.message}` }),
        ...clientRetries(),
        ...callLimit(given),
      ],
      systemPrompt: [given.systemPrompt, ...memory(setup)].filter(Boolean).join("\n\n") || undefined,
      responseFormat: given.responseSchema,
    });
  },
};

function approvals(setup) {
  const gates = interruptOn(setup);
  return gates === undefined ? [] : [humanInTheLoopMiddleware({ interruptOn: gates })];
}

/** Memory files as they are when the thread begins. */
function memory({ case: given, files }) {
  return (given.memory ?? []).flatMap((path) =>
    files[path] === undefined ? [] : [`${path}:\n${files[path]}`],
  );
}
