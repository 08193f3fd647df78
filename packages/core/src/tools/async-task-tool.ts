/** The common form of the tools for background tasks. */
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import { tasksIn } from "../subagents/async/async-task.ts";
import type { Answer, TeamCall } from "../subagents/async/async-team.ts";
import { failedCall, succeededCall, type ToolCallRuntime } from "./built-in-tool.ts";

export const taskIdArgument: z.ZodString = z.string().describe("The whole id");
export const taskIdAliases = { taskId: "task_id", id: "task_id" } as const;

export function teamCall(runtime: ToolCallRuntime): TeamCall {
  const config = runtime.config ?? runtime;
  const { store } = runtime as { store?: unknown };
  const callId = runtime.toolCallId ?? runtime.toolCall?.id;
  return { config, callId, context: runtime.context, store, tasks: tasksIn(runtime.state) };
}

/** The result of the call, with the update of the stored tasks. */
export function answerCall(name: string, runtime: ToolCallRuntime, { text, failed, tasks }: Answer): unknown {
  if (failed) return failedCall(name, runtime, text);
  const message = succeededCall(name, runtime, text);
  return tasks === undefined ? message : new Command({ update: { asyncTasks: tasks, messages: [message] } });
}
