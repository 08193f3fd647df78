/** A chat model that says what a test tells it to say, and proves that what it is asked is valid. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { stampRetryable } from "@langchain/core/errors";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
  type LangSmithParams,
} from "@langchain/core/language_models/chat_models";
import { convertChunksToEvents } from "@langchain/core/language_models/compat";
import type { ChatModelStreamEvent } from "@langchain/core/language_models/event";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  type ContentBlock,
  type InvalidToolCall,
  type ToolCall,
} from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { chunksOf, type WireReply } from "./chunks.ts";
import { fault } from "./fault.ts";
import {
  assertValidRequest,
  type CheckOptions,
  RequestViolation,
  type Violation,
} from "./request-checker.ts";
import { type StructuredOutputConfig, structuredOutput } from "./structured-output.ts";
import { asTurn, responseMetadata, type ScriptedTurn, type Turn, type WireCall, wireCalls } from "./turn.ts";
import { characters, completeUsage, estimateTokens, RequestMeter } from "./usage.ts";
import { pause, throwIfAborted, untilAborted } from "./wait.ts";

export interface ScriptedCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/** One request as the model received it. The messages and tools are the very objects, not copies. */
export interface RecordedCall {
  readonly messages: readonly BaseMessage[];
  readonly tools: readonly BindToolsInput[];
  /** Options of LangChain and bound ones, such as `tool_choice` or `response_format`. */
  readonly options: Readonly<Partial<ScriptedCallOptions>> & { readonly [option: string]: unknown };
}

/** Input of a reactive script. */
export interface ScriptedRequest extends RecordedCall {
  /** How many turns were taken before this one. */
  readonly turn: number;
  readonly signal: AbortSignal | undefined;
}

/** Answers each request by looking at it. */
export type TurnFunction = (request: ScriptedRequest) => Turn | Promise<Turn>;
/** The turns in order, or a function that decides. */
export type Script = readonly Turn[] | TurnFunction;

export interface ScriptedModelOptions extends BaseChatModelParams {
  readonly turns: Script;
  /** Begin again after the last turn, for ever. */
  readonly loop?: boolean;
  /** The answer to every call after the last turn. Without it such a call throws. */
  readonly whenDone?: Turn;
  /** Whether each request is checked against the rules of the providers. Default true: all of them. */
  readonly check?: boolean | CheckOptions;
  /** Whether `calls` and `bindings` are kept. Default true. */
  readonly record?: boolean;
  /** Whether replies carry `usage_metadata`. Default true. */
  readonly usage?: boolean;
  /** Milliseconds before a reply. Default 0. */
  readonly latency?: number;
  /** Milliseconds between two streamed chunks. Default 0. */
  readonly chunkLatency?: number;
  /** Characters in a streamed chunk. Default 16. */
  readonly chunkSize?: number;
  /** Laid over `{ toolCalling: true }`. */
  readonly profile?: ModelProfile;
  /** The name in `response_metadata`. Default "scripted". */
  readonly modelName?: string;
  /** Answer of `getName()`, for middleware that looks at it. Default "ScriptedModel". */
  readonly name?: string;
}

/**
 * The model behind `scriptedModel`. A model bound to tools is the same model: it takes its turns from
 * the same script and records into the same list.
 */
export class ScriptedModel extends BaseChatModel<ScriptedCallOptions> {
  static override lc_name(): string {
    return "ScriptedModel";
  }

  /** Every request so far, those the checker refused too; empty with `record: false`. */
  readonly calls: RecordedCall[] = [];
  /** Every `bindTools` so far; empty with `record: false`. */
  readonly bindings: { readonly tools: readonly BindToolsInput[]; readonly options: object }[] = [];
  /** Violations that the checker found, also when something caught the error it was thrown as. */
  readonly violations: Violation[] = [];
  /** How many requests came, recorded or not. One that was aborted before it was made does not count. */
  callCount = 0;
  readonly modelName: string;

  private readonly settings: ScriptedModelOptions;
  private readonly chunkSize: number;
  private readonly meter = new RequestMeter();
  private turnsTaken = 0;
  private callIds = 0;

  constructor(options: ScriptedModelOptions) {
    super(options);
    const { turns, chunkSize = 16 } = options;
    if (typeof turns !== "function" && !Array.isArray(turns))
      throw new TypeError(`scriptedModel expected an array of turns or a function, but got ${typeof turns}.`);
    if (!Number.isInteger(chunkSize) || chunkSize < 1)
      throw new TypeError(`scriptedModel expected chunkSize to be a whole number above 0, got ${chunkSize}.`);
    this.settings = options;
    this.chunkSize = chunkSize;
    this.modelName = options.modelName ?? "scripted";
    if (options.name !== undefined) this.name = options.name;
  }

  override _llmType(): string {
    return "scripted";
  }

  override get profile(): ModelProfile {
    return { toolCalling: true, ...this.settings.profile };
  }

  override _identifyingParams(): Record<string, unknown> {
    return { model_name: this.modelName };
  }

  override invocationParams(options?: this["ParsedCallOptions"]): Record<string, unknown> {
    return { model: this.modelName, tool_choice: options?.tool_choice };
  }

  override getLsParams(options: this["ParsedCallOptions"]): LangSmithParams {
    return {
      ls_provider: "scripted",
      ls_model_name: this.modelName,
      ls_model_type: "chat",
      ls_stop: options.stop,
    };
  }

  /** An estimate; the inherited method would download a tokeniser. */
  override async getNumTokens(content: string | ContentBlock[]): Promise<number> {
    return estimateTokens((typeof content === "string" ? content : JSON.stringify(content)).length);
  }

  /** The same estimate for whole messages, under the name LangChain's context editing looks for. */
  async getNumTokensFromMessages(
    messages: readonly BaseMessage[],
  ): Promise<{ totalCount: number; countPerMessage: number[] }> {
    const countPerMessage = messages.map((message) => estimateTokens(characters(message)));
    return { totalCount: countPerMessage.reduce((sum, count) => sum + count, 0), countPerMessage };
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs: Partial<ScriptedCallOptions> = {},
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, ScriptedCallOptions> {
    if (this.settings.record !== false) this.bindings.push({ tools, options: kwargs });
    return this.withConfig({ ...kwargs, tools } as Partial<ScriptedCallOptions>);
  }

  /** Reads the answer from a call of the schema's tool, or from a text reply that is JSON. */
  override withStructuredOutput(schema: any, config?: StructuredOutputConfig): any {
    return structuredOutput(this, schema, config);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const { turn, reply } = await this.answer(messages, options);
    if (turn.cut !== undefined) throw fault.connectionReset();
    const message = wholeMessage(reply);
    return { generations: [{ text: typeof message.content === "string" ? message.content : "", message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { turn, reply } = await this.answer(messages, options);
    const chunks = chunksOf(reply, this.chunkSize);
    const { cut } = turn;
    if (cut !== undefined && cut.after >= chunks.length) throw cutTooLate(cut.after, chunks.length);
    for (const [position, message] of chunks.slice(0, cut?.after).entries()) {
      if (position > 0 && this.settings.chunkLatency) await pause(this.settings.chunkLatency, options.signal);
      throwIfAborted(options.signal);
      const text = typeof message.content === "string" ? message.content : "";
      const chunk = new ChatGenerationChunk({ message, text });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
    if (cut !== undefined && !cut.silently) throw fault.connectionReset();
  }

  /** As inherited, but the last event tells the real reason to stop. */
  override async *_streamChatModelEvents(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatModelStreamEvent> {
    let metadata: Record<string, unknown> = {};
    const source = this._streamResponseChunks(messages, options, runManager);
    async function* watched(): AsyncGenerator<ChatGenerationChunk> {
      for await (const chunk of source) {
        metadata = { ...metadata, ...chunk.message.response_metadata };
        yield chunk;
      }
    }
    for await (const event of convertChunksToEvents(watched(), { signal: options.signal })) {
      if (event.event !== "message-finish") yield event;
      else yield { ...event, reason: eventReason(metadata.finish_reason), responseMetadata: metadata };
    }
  }

  /** Records and checks a request, then waits for its turn. A refused request takes no turn. */
  private async answer(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
  ): Promise<{ readonly turn: ScriptedTurn; readonly reply: WireReply }> {
    const signal = options.signal ?? undefined;
    throwIfAborted(signal);
    this.callCount += 1;
    const call: RecordedCall = { messages, tools: options.tools ?? [], options };
    if (this.settings.record !== false) this.calls.push({ ...call, messages: [...messages] });
    if (this.settings.check !== false) this.check(messages);
    const number = this.turnsTaken;
    this.turnsTaken += 1;
    const chosen = await this.choose({ ...call, turn: number, signal });
    const turn = chosen instanceof Error ? {} : asTurn(chosen, `turn ${number + 1}`);
    const latency = turn.latency ?? this.settings.latency ?? 0;
    if (latency > 0) await pause(latency, signal);
    if (turn.never === true) await untilAborted(new Promise<never>(() => {}), signal);
    throwIfAborted(signal);
    if (chosen instanceof Error) throw chosen;
    return { turn, reply: this.reply(turn, messages) };
  }

  private check(messages: BaseMessage[]): void {
    const { check } = this.settings;
    try {
      assertValidRequest(messages, typeof check === "object" ? check : {});
    } catch (error) {
      if (error instanceof RequestViolation) this.violations.push(...error.violations);
      throw stampRetryable(error, false);
    }
  }

  private async choose(request: ScriptedRequest): Promise<Turn> {
    const { turns, loop, whenDone } = this.settings;
    if (typeof turns === "function") return untilAborted(Promise.resolve(turns(request)), request.signal);
    const turn = turns[loop && turns.length > 0 ? request.turn % turns.length : request.turn] ?? whenDone;
    if (turn === undefined) throw scriptEnded(turns.length, request.turn + 1);
    return turn;
  }

  private reply(turn: ScriptedTurn, messages: BaseMessage[]): WireReply {
    const content = turn.content ?? turn.text ?? "";
    const calls = wireCalls(turn, () => this.newCallId(messages.length));
    const estimate = () => ({
      input: this.meter.tokens(messages),
      output: estimateTokens(contentLength(content) + callsLength(calls)),
    });
    return {
      content,
      calls,
      usage: this.settings.usage === false ? undefined : completeUsage(turn.usage, estimate),
      responseMetadata: responseMetadata(turn, this.modelName),
      additionalKwargs: { ...turn.additionalKwargs },
      id: turn.id,
    };
  }

  /** The same in every run of a script, and not used before in the thread even by another model. */
  private newCallId(requestLength: number): string {
    this.callIds += 1;
    return `call_${requestLength}_${this.callIds}`;
  }
}

/** A chat model that answers with `script`: turns in order, or a function of the request. */
export function scriptedModel(
  script: Script | ScriptedModelOptions,
  options: Omit<ScriptedModelOptions, "turns"> = {},
): ScriptedModel {
  const isScript = typeof script === "function" || Array.isArray(script);
  return new ScriptedModel(
    isScript ? { ...options, turns: script } : { ...(script as ScriptedModelOptions), ...options },
  );
}

function wholeMessage(reply: WireReply): AIMessage {
  return new AIMessage({
    id: reply.id,
    content: typeof reply.content === "string" ? reply.content : reply.content.map((block) => ({ ...block })),
    usage_metadata: reply.usage,
    response_metadata: reply.responseMetadata,
    additional_kwargs: reply.additionalKwargs,
    ...parseCalls(reply.calls),
  });
}

function parseCalls(calls: readonly WireCall[]): {
  tool_calls: ToolCall[];
  invalid_tool_calls: InvalidToolCall[];
} {
  const parsed = { tool_calls: [] as ToolCall[], invalid_tool_calls: [] as InvalidToolCall[] };
  for (const { name, id, json } of calls) {
    try {
      parsed.tool_calls.push({ name, args: JSON.parse(json), id, type: "tool_call" });
    } catch (error) {
      const reason = (error as Error).message;
      parsed.invalid_tool_calls.push({ name, args: json, id, error: reason, type: "invalid_tool_call" });
    }
  }
  return parsed;
}

function contentLength(content: WireReply["content"]): number {
  return typeof content === "string" ? content.length : JSON.stringify(content).length;
}

function callsLength(calls: readonly WireCall[]): number {
  return calls.reduce((sum, call) => sum + call.name.length + call.json.length, 0);
}

/** The names of the event protocol; undefined for reasons it does not know. */
function eventReason(reason: unknown): "stop" | "length" | "tool_use" | "content_filter" | undefined {
  if (reason === "tool_calls") return "tool_use";
  return reason === "stop" || reason === "length" || reason === "content_filter" ? reason : undefined;
}

function scriptEnded(turns: number, call: number): Error {
  const error = new Error(
    `The script has ${turns} ${turns === 1 ? "turn" : "turns"}, this was call ${call}. Add a turn, or pass \`loop: true\` or \`whenDone\`.`,
  );
  error.name = "ScriptEnded";
  return stampRetryable(error, false);
}

function cutTooLate(after: number, chunks: number): Error {
  return new RangeError(
    `fault.cutStream({ after: ${after} }) never takes place: the turn has ${chunks} chunks, so \`after\` may be 0 to ${chunks - 1}.`,
  );
}
