/** A todo list the agent keeps in its state. */

import { ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { checkNames } from "../check-options.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { createWriteTodosTool, type Todo, todoSchema } from "../tools/write-todos.ts";

/** null means absent. */
export interface TodoListMiddlewareOptions {
  /** Replaces our section of the system prompt; `""` removes it. */
  readonly systemPrompt?: string | null;
  readonly toolDescription?: string | null;
}

type TodosValue = ReducedValue<Todo[], Todo[] | undefined>;

/**
 * Each list replaces the one before; of two in one superstep the later call's counts. The input is optional because
 * LangChain's `createAgent` wants a value for every other one.
 */
export const todosValue: TodosValue = new ReducedValue(z.array(todoSchema).default([]), {
  inputSchema: z.array(todoSchema).optional(),
  reducer: (current: Todo[], next: Todo[] | undefined) => next ?? current,
});

export const TODO_LIST_PROMPT = `## Todo list
For work of three or more steps, plan with \`write_todos\` first and keep the list current; do simple things directly.`;

export function createTodoListMiddleware(
  options: TodoListMiddlewareOptions = {},
): AgentMiddleware & WithStages {
  checkOptions(options);
  const words = options.systemPrompt ?? TODO_LIST_PROMPT;
  return builtInMiddleware({
    name: "todoListMiddleware",
    tools: [createWriteTodosTool({ description: options.toolDescription ?? undefined })],
    stateSchema: new StateSchema({ todos: todosValue }),
    stages: { prompt: (visible) => (visible.has("write_todos") ? words : "") },
  });
}

const OPTION_NAMES = ["systemPrompt", "toolDescription"];

function checkOptions(options: TodoListMiddlewareOptions): void {
  checkNames("createTodoListMiddleware", options, OPTION_NAMES);
}
