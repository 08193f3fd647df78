/** Agents whose conversations outgrow their window, and models that refuse what a provider would refuse. */
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import {
  createSummarizationMiddleware,
  type SummarizationMiddlewareOptions,
} from "../middleware/summarization.ts";
import {
  fault,
  type RecordedCall,
  type Script,
  type ScriptedModel,
  say,
  scriptedModel,
} from "../testing/index.ts";
import { asTurn } from "../testing/turn.ts";
import { estimateTokens } from "../tokens.ts";
import { COMPACTION, type Compaction } from "./compaction-state.ts";

/** What a provider would count, roughly. */
export function countTokens(messages: readonly BaseMessage[], tools: readonly unknown[] = []): number {
  const texts = messages.map((message) => {
    const { content, tool_calls: calls } = message as { content: unknown; tool_calls?: unknown[] };
    const text = typeof content === "string" ? content : JSON.stringify(content, withoutBytes);
    return text + (calls?.length ? JSON.stringify(calls) : "");
  });
  const definitions = tools.map((tool) => JSON.stringify(convertToOpenAITool(tool as never)));
  return [...texts, ...definitions].reduce((sum, text) => sum + estimateTokens(text) + 3, 0);
}

function withoutBytes(key: string, value: unknown): unknown {
  return key === "data" ? "x".repeat(3000) : value;
}

/** Answers as scripted and reports what it counts, but refuses requests that are longer than its window. */
export function strictModel(window: number, script: Script, options: object = {}): ScriptedModel {
  let turn = -1;
  return scriptedModel(
    async (request) => {
      const tokens = countTokens(request.messages, request.tools);
      if (tokens > window) return fault.contextOverflow();
      turn += 1;
      const chosen = typeof script === "function" ? await script({ ...request, turn }) : script[turn];
      if (chosen === undefined) return new Error("the script has ended");
      if (chosen instanceof Error) return chosen;
      return { ...asTurn(chosen), usage: { input_tokens: tokens, output_tokens: 100 } };
    },
    { profile: { maxInputTokens: window, imageInputs: true }, ...options },
  );
}

export function summariser(
  script: Script = ({ turn }) => `NOTES ${turn + 1}`,
  options: object = {},
): ScriptedModel {
  return scriptedModel(script, { profile: { maxInputTokens: 100_000 }, ...options });
}

export interface TestAgentOptions {
  readonly model: ScriptedModel;
  readonly summary?: SummarizationMiddlewareOptions;
  readonly agent?: Partial<CreateDeepAgentParams>;
}

export function compactingAgent({ model, summary = {}, agent = {} }: TestAgentOptions) {
  const { middleware, ...rest } = agent;
  return createDeepAgent({
    model,
    checkpointer: new MemorySaver(),
    ...rest,
    // The scripts of long conversations repeat themselves.
    middleware: [
      createSummarizationMiddleware(summary),
      { LoopDetectionMiddleware: false },
      ...(middleware ?? []),
    ] as never,
  });
}

export const thread = (id = "t"): { configurable: { thread_id: string } } => ({
  configurable: { thread_id: id },
});

export const ask = (text: string): { messages: BaseMessage[] } => ({ messages: [new HumanMessage(text)] });

/** A tool that answers with as many words as it is asked for. */
export const talk = new DynamicStructuredTool({
  name: "talk",
  description: "Talks.",
  schema: z.object({ words: z.number() }),
  func: async ({ words }: { words: number }) => wordsOf(words),
});

function wordsOf(count: number): string {
  return Array.from({ length: count }, (_, i) => `word${i % 97}`).join(" ");
}

export { wordsOf as words };

export async function compactionOf(
  agent: { getState(config: object): Promise<{ values: object }> },
  config: object = thread(),
): Promise<Compaction | undefined> {
  return ((await agent.getState(config)).values as Record<string, Compaction | undefined>)[COMPACTION];
}

/** The requests without their system messages. */
export const conversations = (model: ScriptedModel): BaseMessage[][] =>
  model.calls.map(({ messages }: RecordedCall) => messages.filter(({ type }) => type !== "system"));

export const isSummary = (message: BaseMessage | undefined): boolean =>
  message?.additional_kwargs.lc_source === "summarization";

/** Asks `count` times, each with an answer of about 200 tokens. */
export async function converse(
  agent: ReturnType<typeof compactingAgent>,
  count: number,
  config = thread(),
): Promise<void> {
  for (let i = 0; i < count; i += 1) await agent.invoke(ask(`question ${i} ${wordsOf(80)}`), config);
}

export const answers = (): ReturnType<typeof say> => say(`answer ${wordsOf(80)}`);
