/** The common form of our tools: every call gets an answer and does not throw, even for bad arguments. */

import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { DynamicStructuredTool, ToolInputParsingException } from "@langchain/core/tools";
import type { z } from "zod";
import type { BackendRuntime } from "../backends/backend.ts";
import { type ToolEffect, withEffect } from "./tool-effect.ts";

/** Values that a loop hands a tool besides its arguments; all of them may be missing in a call by hand. */
export interface ToolCallRuntime extends RunnableConfig {
  readonly config?: RunnableConfig;
  readonly state?: Record<string, unknown>;
  readonly context?: unknown;
  readonly toolCallId?: string;
  readonly toolCall?: { readonly id?: string };
}

export interface BuiltInToolDefinition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly effect: ToolEffect;
  /** Text is the answer of a call that succeeded. */
  readonly run: (args: z.output<Schema>, runtime: ToolCallRuntime) => unknown;
}

export type BuiltInTool = DynamicStructuredTool;

export function builtInTool<Schema extends z.ZodType>(
  definition: BuiltInToolDefinition<Schema>,
): BuiltInTool {
  const { run, effect, ...fields } = definition;
  const tool = new AnsweringTool({
    ...fields,
    func: async (args: unknown, manager: CallbackManagerForToolRun | undefined, runtime: unknown) =>
      run(args as z.output<Schema>, heardAs(manager, (runtime ?? {}) as ToolCallRuntime)),
  } as never);
  return withEffect(tool, effect);
}

/** Work that the tool starts is part of its run for listeners. */
function heardAs(manager: CallbackManagerForToolRun | undefined, runtime: ToolCallRuntime): ToolCallRuntime {
  const child = manager?.getChild();
  return child === undefined || child.handlers.length === 0 ? runtime : { ...runtime, callbacks: child };
}

/** Arguments that do not fit the schema are answered like any other mistake of the model. */
class AnsweringTool extends DynamicStructuredTool {
  override async call(...args: Parameters<DynamicStructuredTool["call"]>): Promise<never> {
    try {
      return (await super.call(...args)) as never;
    } catch (error) {
      if (!(error instanceof ToolInputParsingException)) throw error;
      return failedCall(this.name, args[1] as ToolCallRuntime, badArguments(this.name, error)) as never;
    }
  }
}

/** The result of a call that failed; `text` is all the model will see. */
export function failedCall(name: string, runtime: ToolCallRuntime | undefined, text: string): ToolMessage {
  return new ToolMessage({ content: text, status: "error", name, tool_call_id: callId(runtime) });
}

export function succeededCall(name: string, runtime: ToolCallRuntime, text: string): ToolMessage {
  return new ToolMessage({ content: text, status: "success", name, tool_call_id: callId(runtime) });
}

/** The part of the runtime that backends are promised. */
export function backendRuntime(runtime: ToolCallRuntime): BackendRuntime {
  return {
    state: runtime.state ?? {},
    store: (runtime as { store?: BackendRuntime["store"] }).store,
    context: runtime.context,
    serverInfo: (runtime as { serverInfo?: BackendRuntime["serverInfo"] }).serverInfo,
    config: runtime.config ?? runtime,
    toolCallId: callId(runtime),
  };
}

function callId(runtime: ToolCallRuntime | undefined): string {
  return runtime?.toolCallId ?? runtime?.toolCall?.id ?? "";
}

/** LangChain puts the report of each argument after a heading of its own. */
function badArguments(name: string, error: Error): string {
  const report = error.message.slice(error.message.indexOf("\n\n") + 1).trim();
  return `Error: The arguments for tool '${name}' are not valid:\n${report}`;
}
