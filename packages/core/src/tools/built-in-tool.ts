/** The common form of our tools: every call gets an answer and does not throw, even for bad arguments. */

import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { DynamicStructuredTool, ToolInputParsingException } from "@langchain/core/tools";
import { isCommand } from "@langchain/langgraph";
import type { z } from "zod";
import type { BackendRuntime } from "../backends/backend.ts";
import { argumentWords, unknownArguments } from "../loop/failures/argument-words.ts";
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

/**
 * Arguments that do not fit the schema are answered like any other mistake of the model. Arguments that the tool does
 * not have are left out, and the result names them.
 */
class AnsweringTool extends DynamicStructuredTool {
  override async call(...args: Parameters<DynamicStructuredTool["call"]>): Promise<never> {
    const given = argumentsOf(args[0]);
    try {
      return withNote(await super.call(...args), unknownArguments(this, given)) as never;
    } catch (error) {
      if (!(error instanceof ToolInputParsingException)) throw error;
      return failedCall(this.name, args[1] as ToolCallRuntime, argumentWords(error, this, given)) as never;
    }
  }
}

/** Arguments of a whole tool call, or those that a caller gave by hand. */
function argumentsOf(given: unknown): unknown {
  const call = given as { readonly type?: unknown; readonly args?: unknown } | undefined;
  return call?.type === "tool_call" ? call.args : given;
}

/** A long result may be cut at its end, so the note stands before it. An error stays the first word of its result. */
function withNote(result: unknown, unknown: string): unknown {
  if (unknown === "") return result;
  const note = `Note: ${unknown} Unknown arguments were ignored.`;
  if (typeof result === "string") return `${note}\n${result}`;
  if (isCommand(result)) {
    const { messages } = (result.update ?? {}) as { readonly messages?: unknown };
    for (const message of Array.isArray(messages) ? messages : []) withNote(message, unknown);
  }
  if (!ToolMessage.isInstance(result)) return result;
  const { content } = result;
  if (typeof content !== "string") result.content = [{ type: "text", text: note }, ...content];
  else result.content = result.status === "error" ? `${content}\n${note}` : `${note}\n${content}`;
  return result;
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
