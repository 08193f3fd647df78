/** Types of the streams of an agent. */
import type { BaseMessage } from "@langchain/core/messages";
import type { ClientTool, ServerTool } from "@langchain/core/tools";
import type { Interrupt, StreamMode, StreamOutputMap, StreamTransformer } from "@langchain/langgraph";
import type { AgentRunStream, SubagentRunStream } from "langchain";
import type { BuiltInResult, RunOptions, StreamOptions } from "./agent-types.ts";
import type { Outcome } from "./loop/messages/outcome.ts";

/** Values during a run: `outcome` is absent until the run ends. */
type ValuesOf<TResult> = Omit<TResult, "outcome"> & { readonly outcome?: Outcome };

type EngineData<TMode extends StreamMode, TValues> = StreamOutputMap<
  TMode,
  false,
  Record<string, unknown>,
  TValues,
  string,
  unknown,
  unknown,
  undefined
>;

interface StreamData<TResult> {
  values: ValuesOf<TResult>;
  /** Writes of each node, by its name. */
  updates: { readonly __interrupt__?: Interrupt[]; readonly [node: string]: any };
  /** A token or a whole message, and the metadata of its run. */
  messages: [BaseMessage, Record<string, any>];
  custom: unknown;
  checkpoints: EngineData<"checkpoints", ValuesOf<TResult>>;
  tasks: EngineData<"tasks", ValuesOf<TResult>>;
  tools: EngineData<"tools", unknown>;
  debug: EngineData<"debug", unknown>;
}

/** A part of a `version: "v2"` stream; `type` tells what `data` is. */
export type StreamPart<TMode extends StreamMode = StreamMode, TResult = BuiltInResult> = {
  [Mode in TMode]: {
    readonly type: Mode;
    /** `[]` for the agent itself; begins with `tools:<id>` inside a subagent. */
    readonly ns: readonly string[];
    readonly data: StreamData<TResult>[Mode];
  };
}[TMode];

/** Options of a `version: "v2"` stream. `streamMode` selects the parts. */
export type PartOptions<TContext, TMode extends StreamMode> = Omit<
  StreamOptions<TContext>,
  "streamMode" | "encoding"
> & { version: "v2"; streamMode?: TMode | readonly TMode[]; encoding?: undefined };

export type EventOptions<TContext> = Omit<RunOptions<TContext>, "version"> & {
  version: "v1" | "v2";
  encoding?: undefined;
};

/** Options of a stream as bytes of server-sent events. */
export type EncodedOptions<TContext, TVersion extends string> = Omit<RunOptions<TContext>, "version"> & {
  version: TVersion;
  encoding: "text/event-stream";
};

export type RunStreamOptions<TContext> = Omit<RunOptions<TContext>, "version"> & {
  version: "v3";
  encoding?: undefined;
  transformers?: readonly (() => StreamTransformer<any>)[];
};

export type { SubagentRunStream };

type AnyTools = readonly (ClientTool | ServerTool)[];

/** A run of `streamEvents` with version v3: messages, tool calls and subagents as streams of their own. */
export type DeepAgentRunStream<TResult = BuiltInResult> = Omit<
  AgentRunStream<TResult, AnyTools, Record<string, any>>,
  "subagents"
> & { readonly subagents: AsyncIterable<SubagentRunStream<BuiltInResult>> };
