/** Tests only: an agent with tools whose results are too long, and what its model was sent. */
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import type { CreateDeepAgentParams } from "../../agent-types.ts";
import { createFilesystemMiddleware, type FilesystemMiddlewareOptions } from "../../middleware/filesystem.ts";
import { type ScriptedModel, scriptedModel, type Turn } from "../../testing/index.ts";

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** `count` different lines, the last without an end. */
export function manyLines(count: number, word = "row"): string {
  return Array.from({ length: count }, (_, i) => `${word} ${i + 1} of ${count}: lorem ipsum dolor sit`).join(
    "\n",
  );
}

/** A tool for each way in which results come; `make` gives the text. */
export function textTools(make: (args: { size?: number }) => string): DynamicStructuredTool[] {
  const results: Record<string, (text: string, id: string) => unknown> = {
    plain: (text) => text,
    blocks: (text) => [
      { type: "text", text: text.slice(0, 1000) },
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "text", text: text.slice(1000) },
    ],
    message: (content, tool_call_id) =>
      new ToolMessage({
        ...{ content, tool_call_id, name: "other", status: "error", artifact: { kept: 1 } },
        ...{ metadata: { source: "here" }, additional_kwargs: { mine: true } },
      }),
    command: (content, tool_call_id) =>
      new Command({ update: { messages: [new ToolMessage({ content, tool_call_id, name: "command" })] } }),
  };
  return Object.entries(results).map(
    ([name, result]) =>
      new DynamicStructuredTool({
        name,
        description: name,
        schema: z.object({ size: z.number().optional(), text: z.string().optional() }),
        func: async (args, _manager, config) =>
          result(make(args), (config as unknown as { toolCall: { id: string } }).toolCall.id),
      }),
  );
}

export interface OffloadAgentOptions {
  readonly turns: readonly Turn[];
  readonly text?: string;
  readonly files?: FilesystemMiddlewareOptions;
  readonly profile?: object;
  readonly agent?: Partial<CreateDeepAgentParams>;
}

export interface OffloadAgent {
  readonly agent: ReturnType<typeof createDeepAgent>;
  readonly model: ScriptedModel;
}

export function offloadAgent(options: OffloadAgentOptions): OffloadAgent {
  const { turns, text = manyLines(10_000), files = {}, profile, agent = {} } = options;
  const model = scriptedModel(turns, profile ? { profile } : {});
  const made = createDeepAgent({
    model,
    tools: textTools(({ size }) => (size === undefined ? text : "x".repeat(size))),
    middleware: [createFilesystemMiddleware(files)],
    ...agent,
  } as CreateDeepAgentParams);
  return { agent: made as OffloadAgent["agent"], model };
}

export function toolMessages(state: { messages: BaseMessage[] }): ToolMessage[] {
  return state.messages.filter((message) => ToolMessage.isInstance(message));
}

/** A request as bytes, apart from its system prompt. */
export function wire(messages: readonly BaseMessage[]): string[] {
  return messages
    .filter(({ type }) => type !== "system")
    .map((message) =>
      JSON.stringify([
        message.type,
        message.content,
        (message as { tool_calls?: unknown }).tool_calls ?? null,
      ]),
    );
}
