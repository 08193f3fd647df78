/** Deepwright with completion checks, as a harness under test. */
import { createDeepAgent, createTodoListMiddleware } from "deepwright";
import type { Harness, HarnessAgent } from "../harness/harness.ts";
import { contractOf } from "./completion-suite.ts";

/** Each run starts with the todos of its case. */
export function checkedHarness(): Harness {
  return {
    name: "deepwright with checks",
    create: ({ case: given, model, tools, checkpointer }) => {
      const agent = createDeepAgent({
        model,
        checkpointer,
        tools: [...tools],
        middleware: [createTodoListMiddleware({ checks: true })],
      } as never) as unknown as HarnessAgent;
      const todos = contractOf(given.id).map((todo) => ({ ...todo, status: "pending" }));
      return {
        getState: (config) => agent.getState(config),
        invoke: (input, config) => agent.invoke(startsRun(input) ? { ...input, todos } : input, config),
      };
    },
  };
}

/** Not an answer to a question, and not the continuation of a run. */
function startsRun(input: unknown): input is object {
  return typeof input === "object" && input !== null && "messages" in input;
}
