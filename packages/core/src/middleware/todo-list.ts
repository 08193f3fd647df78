/** A todo list the agent keeps in its state. */

import { ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import { StateBackend } from "../backends/state/state.ts";
import { checkKind, checkNames } from "../check-options.ts";
import { type CheckedTodo, checkedTodoSchema } from "../checks/check.ts";
import { checkGate } from "../checks/check-gate.ts";
import { checkAtEnd, type EndOfRunSettings, newRunStages } from "../checks/end-of-run.ts";
import { EVIDENCE } from "../checks/evidence.ts";
import { createCheckedTodosTool } from "../checks/write-checked-todos.ts";
import { ConfigurationError } from "../errors.ts";
import { CALL_GATE, INHERIT } from "../internal-symbols.ts";
import type { WithCallGate } from "../loop/approval-rules/approval-policy.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { createWriteTodosTool, type Todo, todoSchema } from "../tools/write-todos.ts";
import { type AgentDefaults, inheritedBackend, type WithInheritance } from "./inherit.ts";

/** null means absent. */
export interface TodoListMiddlewareOptions {
  /** Replaces our section of the system prompt; `""` removes it. */
  readonly systemPrompt?: string | null;
  readonly toolDescription?: string | null;
  /** Todos may have a completion check, which the harness runs; default false. Works in `createDeepAgent` only. */
  readonly checks?: boolean | null;
  /** How often a run with failed checks continues before it ends as `unverified`; default 3. */
  readonly checkAttempts?: number | null;
  /** Where files of checks are; default: the backend of the agent. */
  readonly backend?: BackendSource | null;
}

type TodosValue = ReducedValue<Todo[], Todo[] | undefined>;

/**
 * Each list replaces the one before; of two in one superstep the later call's wins. The input is optional because
 * LangChain's `createAgent` requires a value otherwise.
 */
export const todosValue: TodosValue = new ReducedValue(z.array(todoSchema).default([]), {
  inputSchema: z.array(todoSchema).optional(),
  reducer: (current: Todo[], next: Todo[] | undefined) => next ?? current,
});

const checkedTodosValue = new ReducedValue(z.array(checkedTodoSchema).default([]), {
  inputSchema: z.array(checkedTodoSchema).optional(),
  reducer: (current: CheckedTodo[], next: CheckedTodo[] | undefined) => next ?? current,
} as never);

export const TODO_LIST_PROMPT = `## Todo list
For work of three or more steps, plan with \`write_todos\` first and keep the list current; do simple things directly.`;

export const CHECKS_PROMPT = `Give a todo a \`check\` where something can prove that it is done: a command that exits with 0, or a file that is there, contains a text, fits a JSON schema or is absent. The check runs when you mark the todo completed. All checks must pass when you end; only a person can drop or change one.`;

export function createTodoListMiddleware(
  options: TodoListMiddlewareOptions = {},
): AgentMiddleware & WithStages {
  checkOptions(options);
  if (options.checks) return checkedTodoList(options);
  const words = options.systemPrompt ?? TODO_LIST_PROMPT;
  return builtInMiddleware({
    name: "todoListMiddleware",
    tools: [createWriteTodosTool({ description: options.toolDescription ?? undefined })],
    stateSchema: new StateSchema({ todos: todosValue }),
    stages: { prompt: (visible) => (visible.has("write_todos") ? words : "") },
  });
}

function checkedTodoList(
  options: TodoListMiddlewareOptions,
): AgentMiddleware & WithStages & WithInheritance & WithCallGate {
  const source = options.backend ?? new StateBackend();
  const settings: EndOfRunSettings = {
    backend: (runtime) => resolveBackend(source, runtime),
    attempts: options.checkAttempts ?? 3,
  };
  const words = options.systemPrompt ?? `${TODO_LIST_PROMPT}\n${CHECKS_PROMPT}`;
  const { backend } = settings;
  return {
    ...builtInMiddleware({
      name: "todoListMiddleware",
      tools: [createCheckedTodosTool({ backend, description: options.toolDescription ?? undefined })],
      stateSchema: new StateSchema({ todos: checkedTodosValue, [EVIDENCE]: z.any() }) as never,
      ownLoopOnly: true,
      stages: { ...newRunStages, prompt: (visible) => (visible.has("write_todos") ? words : "") },
      afterAgent: {
        canJumpTo: ["model"],
        hook: (state, runtime) => checkAtEnd(state, runtime as never, settings),
      },
    }),
    [CALL_GATE]: checkGate,
    [INHERIT]: (defaults: AgentDefaults) =>
      createTodoListMiddleware({ ...options, backend: inheritedBackend(options.backend, defaults) }),
  };
}

const OPTION_NAMES = ["systemPrompt", "toolDescription", "checks", "checkAttempts", "backend"];

function checkOptions(options: TodoListMiddlewareOptions): void {
  checkNames("createTodoListMiddleware", options, OPTION_NAMES);
  checkKind("boolean", { checks: options.checks });
  const { checkAttempts: attempts } = options;
  if (attempts == null || (Number.isInteger(attempts) && attempts >= 0)) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `The option 'checkAttempts' must be a whole number, 0 or more, not ${String(attempts)}.`,
  );
}
