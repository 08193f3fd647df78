/**
 * The model of last resort: no LLM, but a chat model all the same. It follows a fixed routine with
 * the tools it is offered, so that a newcomer without a key sees a real run.
 */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import type { PlannedTurn } from "./offline/planned-turn.ts";
import { progressOf } from "./offline/progress.ts";
import { nextTurn } from "./offline/routine.ts";

interface OfflineCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

export class OfflineModel extends BaseChatModel<OfflineCallOptions> {
  static override lc_name(): string {
    return "OfflineModel";
  }

  readonly model = "offline";

  constructor() {
    super({});
  }

  override _llmType(): string {
    return "offline";
  }

  /** Pictures are left out of its requests: one that stands in a message of its own would look like a new task. */
  override get profile() {
    return { imageInputs: false };
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs: Partial<OfflineCallOptions> = {},
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, OfflineCallOptions> {
    return this.withConfig({ ...kwargs, tools } as Partial<OfflineCallOptions>);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const turn = decide(messages, options);
    const message = new AIMessage({
      content: turn.text,
      tool_calls: turn.calls.map((call, i) => ({ ...call, id: callId(messages, i), type: "tool_call" })),
      usage_metadata: NO_USAGE,
      response_metadata: metadataOf(turn),
    });
    return { generations: [{ text: turn.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const turn = decide(messages, options);
    for (const message of chunksOf(turn, messages)) {
      options.signal?.throwIfAborted();
      const chunk = new ChatGenerationChunk({ message, text: message.text });
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function decide(messages: readonly BaseMessage[], options: OfflineCallOptions): PlannedTurn {
  return nextTurn(progressOf(messages), new Set((options.tools ?? []).map(nameOf)));
}

function nameOf(tool: BindToolsInput): string {
  const { name, function: definition } = tool as { name?: string; function?: { name?: string } };
  return name ?? definition?.name ?? "";
}

/** The same for the same history; the length of the history makes it unique in a thread. */
function callId(messages: readonly BaseMessage[], index: number): string {
  return `offline_${messages.length}_${index}`;
}

function metadataOf({ calls }: PlannedTurn): Record<string, unknown> {
  return { model_name: "offline", finish_reason: calls.length > 0 ? "tool_calls" : "stop" };
}

/** Word by word, then the calls, then the end. */
function chunksOf(turn: PlannedTurn, messages: readonly BaseMessage[]): readonly AIMessageChunk[] {
  const words = turn.text.match(/\S+\s*|\s+/g) ?? [];
  return [
    ...words.map((content) => new AIMessageChunk({ content })),
    ...turn.calls.map(
      ({ name, args }, index) =>
        new AIMessageChunk({
          content: "",
          tool_call_chunks: [
            { type: "tool_call_chunk", index, id: callId(messages, index), name, args: JSON.stringify(args) },
          ],
        }),
    ),
    new AIMessageChunk({ content: "", usage_metadata: NO_USAGE, response_metadata: metadataOf(turn) }),
  ];
}
