import { AIMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import { once } from "../once.ts";
import {
  type BuiltInTool,
  builtInTool,
  failedCall,
  succeededCall,
  type ToolCallRuntime,
} from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

export const todoSchema = z.object({
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
});

export type Todo = z.infer<typeof todoSchema>;

const schema = once(() =>
  lenientObject({ todos: z.array(todoSchema).describe("The whole list") }, { json: ["todos"] }),
);

export const WRITE_TODOS = "write_todos";

export const WRITE_TODOS_DESCRIPTION =
  "Replace your todo list. For work of several steps: plan them, keep one in_progress, " +
  "mark each completed as soon as it is done. Call it once per turn.";

export interface WriteTodosOptions {
  /** Replaces our words for the model. */
  readonly description?: string;
}

export function createWriteTodosTool(options: WriteTodosOptions = {}): BuiltInTool {
  return builtInTool({
    effect: "reads",
    name: WRITE_TODOS,
    description: options.description ?? WRITE_TODOS_DESCRIPTION,
    schema: schema(),
    run: ({ todos }, runtime) => replaceTodos(todos, runtime),
  });
}

function replaceTodos(todos: Todo[], runtime: ToolCallRuntime): unknown {
  if (callsInTurn(runtime) > 1) return failedCall(WRITE_TODOS, runtime, CALLED_TWICE);
  const messages = [succeededCall(WRITE_TODOS, runtime, todoSummary(todos))];
  return new Command({ update: { todos, messages } });
}

export const CALLED_TWICE = `Error: ${WRITE_TODOS} was called more than once in this turn, and each call replaces the list. Nothing was changed: call it once.`;

/** How often the last turn of the model calls this tool. */
export function callsInTurn(runtime: ToolCallRuntime): number {
  const messages = runtime.state?.messages;
  if (!Array.isArray(messages)) return 1;
  const turn = messages.findLast((message) => AIMessage.isInstance(message));
  return (turn?.tool_calls ?? []).filter((call: { name: string }) => call.name === WRITE_TODOS).length;
}

export function todoSummary(todos: readonly Todo[]): string {
  const count = (status: Todo["status"]): number => todos.filter((todo) => todo.status === status).length;
  return `Todo list updated: ${count("completed")} completed, ${count("in_progress")} in progress, ${count("pending")} pending`;
}
