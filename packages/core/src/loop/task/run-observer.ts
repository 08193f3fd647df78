/** Observers around runs, requests and calls. Without an observer in the tree they cost nothing. */
import type { AIMessage, BaseMessage, ToolCall } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { treeOf } from "../../backends/run-tree.ts";
import type { TaskConfig } from "../../engine/engine.ts";
import type { Outcome } from "../messages/outcome.ts";

export interface ObservedRun {
  /** The agent's; absent where it has none. */
  readonly name: string | undefined;
  /** A graph that is not ours: the observer sees nothing inside it. */
  readonly isForeign?: boolean;
}

export interface ObservedAsk {
  /** The model with its bound tools and options. */
  readonly model: unknown;
  /** The system message first, if there is one. */
  readonly messages: readonly BaseMessage[];
  /** Ends the attempt, also where the client does not listen to it. */
  readonly signal?: AbortSignal | undefined;
}

export interface ObservedCall {
  readonly call: ToolCall;
  /** The agent has this tool; otherwise the model invented the name. */
  readonly isKnown: boolean;
}

interface Configured {
  readonly configurable?: Record<string, unknown>;
}

/** Each method calls its callback exactly once, and returns or throws the callback's result. */
export interface RunObserver {
  run<Config extends Configured, Chunk>(
    run: ObservedRun,
    config: Config,
    start: (config: Config) => AsyncGenerator<Chunk>,
  ): AsyncGenerator<Chunk>;
  /** One attempt. */
  ask(asked: ObservedAsk, config: TaskConfig, ask: () => Promise<AIMessage>): Promise<AIMessage>;
  /** Errors thrown here may still become a result: `execute` is the call without the text for its failures. */
  call<Result extends BaseMessage | Command>(
    call: ObservedCall,
    config: TaskConfig,
    execute: (config: TaskConfig) => Promise<Result>,
  ): Promise<Result>;
  /** A task of the run threw. */
  threw(error: unknown): void;
  /** The run ends so. */
  ended(outcome: Outcome): void;
}

export function observerOf(config: unknown): RunObserver | undefined {
  return treeOf(config).observer as RunObserver | undefined;
}

export function observedRun<Config extends Configured, Chunk>(
  run: ObservedRun,
  config: Config,
  start: (config: Config) => AsyncGenerator<Chunk>,
): AsyncGenerator<Chunk> {
  return observerOf(config)?.run(run, config, start) ?? start(config);
}

export function observedAsk(
  asked: ObservedAsk,
  config: TaskConfig,
  ask: () => Promise<AIMessage>,
): Promise<AIMessage> {
  return observerOf(config)?.ask(asked, config, ask) ?? ask();
}

export function observedCall<Result extends BaseMessage | Command>(
  call: ObservedCall,
  config: TaskConfig,
  execute: (config: TaskConfig) => Promise<Result>,
): Promise<Result> {
  return observerOf(config)?.call(call, config, execute) ?? execute(config);
}

export function observedNode<T>(config: unknown, run: Promise<T>): Promise<T> {
  const observer = observerOf(config);
  if (observer === undefined) return run;
  return run.catch((error) => {
    observer.threw(error);
    throw error;
  });
}
