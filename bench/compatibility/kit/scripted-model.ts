import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

/** One answer of the model: text, tool calls, or both. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly Call[];
}

export interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly id?: string;
}

/** One request as a provider would receive it. */
export interface Request {
  readonly messages: BaseMessage[];
  /** Text of the system messages. */
  readonly system: string;
  readonly tools: ToolSchema[];
  /** The number of requests before this one. */
  readonly turn: number;
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: { properties?: Record<string, unknown>; required?: string[] };
}

export type Script = readonly (Reply | string)[] | ((request: Request) => Reply | string | Error);

interface CallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/** A chat model that answers from a script and keeps every request. It knows neither library. */
export class ScriptedModel extends BaseChatModel<CallOptions> {
  readonly requests: Request[] = [];
  readonly modelName: string;
  readonly #script: Script;
  readonly #profile: Record<string, unknown>;
  #calls = 0;

  constructor(script: Script, options: { model?: string; profile?: Record<string, unknown> } = {}) {
    super({ maxRetries: 0 });
    this.#script = script;
    this.modelName = options.model ?? "scripted";
    this.#profile = options.profile ?? {};
  }

  override get profile(): Record<string, any> {
    return this.#profile;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(
    tools: BindToolsInput[],
    options?: Partial<CallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk> {
    return this.withConfig({ ...options, tools }) as Runnable<BaseLanguageModelInput, AIMessageChunk>;
  }

  async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = this.#answer(messages, options.tools ?? []);
    return { generations: [{ message, text: message.text }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, tool_calls: calls = [] } = this.#answer(messages, options.tools ?? []);
    const id = `reply-${this.requests.length}`;
    for (const word of text.split(/(?<= )/))
      if (word)
        yield new ChatGenerationChunk({ text: word, message: new AIMessageChunk({ id, content: word }) });
    for (const [index, call] of calls.entries()) {
      const piece = { index, id: call.id, name: call.name, args: JSON.stringify(call.args) };
      const message = new AIMessageChunk({
        id,
        content: "",
        tool_call_chunks: [{ ...piece, type: "tool_call_chunk" }],
      });
      yield new ChatGenerationChunk({ text: "", message });
    }
  }

  #answer(messages: BaseMessage[], tools: BindToolsInput[]): AIMessage {
    const system = messages.filter((message) => message.getType() === "system");
    const request: Request = {
      messages,
      system: system.map((message) => message.text).join("\n"),
      tools: tools.map(schemaOf),
      turn: this.requests.length,
    };
    this.requests.push(request);
    const script = this.#script;
    const reply = typeof script === "function" ? script(request) : (script[request.turn] ?? "done");
    if (reply instanceof Error) throw reply;
    const { text = "", calls = [] } = typeof reply === "string" ? { text: reply } : reply;
    return new AIMessage({
      content: text,
      tool_calls: calls.map((call) => ({
        type: "tool_call",
        id: `call_${++this.#calls}`,
        ...call,
      })),
    });
  }
}

function schemaOf(given: BindToolsInput): ToolSchema {
  const asFunction = convertToOpenAITool(given as Parameters<typeof convertToOpenAITool>[0]).function;
  return {
    name: asFunction.name,
    description: asFunction.description ?? "",
    parameters: (asFunction.parameters ?? {}) as ToolSchema["parameters"],
  };
}

/** A reply with one tool call. */
export function call(name: string, args: Record<string, unknown>, id?: string): Reply {
  return { calls: [id === undefined ? { name, args } : { name, args, id }] };
}

export function scripted(script: Script, options?: ConstructorParameters<typeof ScriptedModel>[1]) {
  return new ScriptedModel(script, options);
}
