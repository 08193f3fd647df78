/**
 * Stages: the behaviour of a built-in middleware, stated once.
 *
 * Our loop calls them directly: a stage costs no superstep and copies no list. In LangChain's `createAgent` one generic
 * adapter (`loop/hooks/stage-hooks.ts`) calls the same stages from LangChain's hooks.
 */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage } from "@langchain/core/messages";
import type { AgentMiddleware } from "langchain";
import type { BackendRuntime } from "../../backends/backend.ts";
import type { RunTree } from "../../backends/run-tree.ts";
import type { TaskConfig } from "../../engine/engine.ts";
import { STAGES } from "../../internal-symbols.ts";
import type { Messages } from "../messages/messages.ts";
import type { Outcome } from "../messages/outcome.ts";
import type { Reminder } from "../messages/reminders.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import type { ChatModel } from "../providers/model-source.ts";

type Awaitable<T> = T | Promise<T>;

/** The task a stage runs in. */
export interface StageTask {
  readonly config: TaskConfig;
  readonly signal: AbortSignal | undefined;
  /** Runtime that backends are promised. */
  readonly runtime: BackendRuntime;
  /** The agent's model; undefined where a loop does not say. */
  model(): Awaitable<ChatModel | undefined>;
  /** A value of the state, including writes of stages in this task. */
  read(key: string): unknown;
  /** Stored together with the writes of the task itself, or not at all. The last value of a key counts. */
  write(key: string, value: unknown): void;
  /** Adds a note for the model behind a message of the thread, in every later request: see `reminders.ts`. */
  remind(reminder: Reminder): void;
  /** Removes the reminders for which `isThere` is false, because their position is gone. Absent: reminders are kept. */
  keepReminders?(isThere: (messageId: string) => boolean): void;
  /** Ends the run with this outcome, even if the request fails or is answered: see `endRunWith`. */
  end?(outcome: Outcome): void;
}

/** A request before the middleware of the user has seen it. */
export interface RequestView {
  /** Every message of the thread. */
  readonly thread: Messages;
  /** The repaired thread: each call has one result, in order. */
  readonly valid: Messages;
  readonly system: SystemMessage;
  readonly tools: readonly AnyTool[];
  readonly model: ChatModel;
  /** Messages of the thread as the model sees them: with `render` of all stages, and reminders in their places. */
  render(messages: Messages): Messages;
}

/** Request to the provider. `messages` begins with the system message, if there is one. */
export interface Outgoing {
  readonly model: ChatModel;
  readonly messages: readonly BaseMessage[];
  readonly tools: readonly unknown[];
  /** Options of the call, as `bindTools` takes them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The same request for another model, in the form its provider reads; a string is a `provider:model`. */
  for?(model: ChatModel | string): Promise<Outgoing>;
  /** Set by a stage that watches attempts and repeats them itself: code inside it does not repeat them. */
  readonly attempt?: Attempt;
}

export interface Attempt {
  /** Aborted when the run is stopped and when the attempt is given up. */
  readonly signal: AbortSignal;
  /** A piece of the reply has come. */
  heard(): void;
}

/** Asks the model; the reply is whole. */
export type Ask = (outgoing: Outgoing) => Promise<AIMessage>;

/** Skips the model for now: the writes are stored, then the request is built anew. */
export const AGAIN: unique symbol = Symbol("again") as never;

export interface TreeConfig {
  readonly configurable?: Record<string, unknown>;
}

/** All members are optional; of several middlewares they run in the order of the stack. */
export interface Stages {
  /** Values that a run hands down to inner runs as it begins; `config` is the one it was started with. */
  tree?(tree: RunTree, config: TreeConfig): Partial<RunTree> | undefined;
  /** Callback handler for a run and its inner runs; `tree` belongs to the run. */
  listener?(tree: RunTree): BaseCallbackHandler | undefined;
  /** A turn begins: its request is not yet built. The place to remind the model, or to end the run. */
  turn?(thread: Messages, task: StageTask): Awaitable<void>;
  /** How a run ended, before the outcome is reported. */
  outcome?(outcome: Outcome, config: TaskConfig): Outcome;
  /** The messages a caller hands in, before they are stored. Same ids, same order. */
  input?(messages: readonly BaseMessage[], task: StageTask): Awaitable<readonly BaseMessage[]>;
  /** The result of a call, before it is stored. */
  result?(message: ToolMessage, call: ToolCall, task: StageTask): Awaitable<ToolMessage>;
  /** A section of the system prompt that depends on the visible tools alone; built once per set of tools. */
  prompt?(visibleTools: ReadonlySet<string>): string;
  /** Words for the system prompt that are known in a run only, at the middleware's place in the prompt. */
  section?(visibleTools: ReadonlySet<string>, task: StageTask): Awaitable<string>;
  /** How one message of the thread is sent. Depends on nothing but the message; kept per message by the stage. */
  render?(message: BaseMessage): BaseMessage;
  /** The messages of the request, rendered; one stage of an agent has this. */
  view?(view: RequestView, task: StageTask): Awaitable<Messages | typeof AGAIN>;
  /** The last change of a request before it is sent. */
  outgoing?(outgoing: Outgoing, task: StageTask): Awaitable<Outgoing>;
  /**
   * Around one asking of the model. `next` asks it, or the stage inside; it may be called again, or with another
   * model. The first stage of the stack is the outermost.
   */
  call?(outgoing: Outgoing, next: Ask, task: StageTask): Promise<AIMessage>;
  /** The model did not answer. Undefined: the error is thrown, unless the stage throws one of its own. */
  failed?(error: unknown, view: RequestView, task: StageTask): Awaitable<typeof AGAIN | undefined>;
  /** A reply that arrived, before it is stored. */
  reply?(message: AIMessage, sent: Outgoing, task: StageTask): Awaitable<AIMessage>;
  /** The bytes behind a reference in a content block; undefined: not one of ours, or gone. */
  media?(url: string, task: StageTask): Awaitable<Uint8Array | undefined>;
}

export interface WithStages {
  readonly [STAGES]?: Stages;
}

export function stagesOf(middleware: AgentMiddleware): Stages | undefined {
  return (middleware as WithStages)[STAGES];
}

/** Two sets of stages as one, the first before the second. */
export function combineStages(first: Stages, second: Stages): Stages {
  const both: Stages = { ...first, ...second };
  const { input, result, render, outgoing, call, reply, media } = first;
  if (input && second.input)
    both.input = async (messages, task) => second.input?.(await input(messages, task), task) ?? messages;
  if (result && second.result)
    both.result = async (message, call, task) =>
      second.result?.(await result(message, call, task), call, task) ?? message;
  if (render && second.render) both.render = (message) => second.render?.(render(message)) ?? message;
  if (outgoing && second.outgoing)
    both.outgoing = async (sent, task) => second.outgoing?.(await outgoing(sent, task), task) ?? sent;
  if (call && second.call)
    both.call = (sent, next, task) =>
      call(sent, (changed) => second.call?.(changed, next, task) ?? next(changed), task);
  if (reply && second.reply)
    both.reply = async (message, sent, task) =>
      second.reply?.(await reply(message, sent, task), sent, task) ?? message;
  if (media && second.media)
    both.media = async (url, task) => (await media(url, task)) ?? second.media?.(url, task);
  return both;
}
