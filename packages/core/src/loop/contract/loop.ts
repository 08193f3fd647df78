/** The parts of one agent: everything its nodes need, decided once when the agent is built. */
import type { SystemMessage } from "@langchain/core/messages";
import type { ClientTool } from "@langchain/core/tools";
import { END } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { branchTo, readChannel, type TaskConfig, type Write } from "../../engine/engine.ts";
import type { ApprovalPolicy, CallGate } from "../approval-rules/approval-policy.ts";
import type { Messages } from "../messages/messages.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import type { ChatModel, ModelSource } from "../providers/model-source.ts";
import type { StateShape } from "./channels.ts";
import type { Stages } from "./stages.ts";
import type { ResponseStrategy } from "./structured-output.ts";
import type { ToolShape } from "./tool-shape.ts";

export const MODEL_NODE = "model_request";
export const TOOLS_NODE = "tools";
export const APPROVAL_NODE = "approval";

export type HookPhase = "beforeAgent" | "beforeModel" | "afterModel" | "afterAgent";

/** Hooks that run in one node, in the order they run. */
export interface HookGroup {
  readonly node: string;
  readonly phase: HookPhase;
  readonly middleware: readonly AgentMiddleware[];
}

export interface Loop {
  readonly name: string | undefined;
  readonly model: ModelSource;
  /** The model of a `provider:model` string that a middleware chose; made once. */
  readonly modelNamed: (name: string) => ChatModel | Promise<ChatModel>;
  /**
   * The system message for a set of visible tools; undefined when it would be empty. `spoken` holds the sections that
   * are known only in a run, in the order of their stages.
   */
  readonly systemMessage: (
    visible: ReadonlySet<string>,
    spoken?: readonly string[],
  ) => SystemMessage | undefined;
  /** Stages of our own middleware, in the order of the stack. */
  readonly stages: readonly Stages[];
  /** Stages around the model call, innermost first. */
  readonly callStages: readonly Stages[];
  /** Stages that can change how a run ended. */
  readonly outcomeStages: readonly Stages[];
  readonly tools: readonly AnyTool[];
  /** The shape applied to these tools, and to tools of middleware in each request. */
  readonly toolShape: ToolShape;
  readonly profileKeys: readonly string[];
  /** The tools we can run, by name. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  readonly middleware: readonly AgentMiddleware[];
  /** Middleware with wrapModelCall and wrapToolCall, outermost first. */
  readonly modelWrappers: readonly AgentMiddleware[];
  readonly toolWrappers: readonly AgentMiddleware[];
  readonly hooks: Readonly<Record<HookPhase, readonly HookGroup[]>>;
  readonly state: StateShape;
  readonly stateKeys: readonly string[];
  /** As the user gave it; middleware sees it in the request and may change it. */
  readonly responseFormat: unknown;
  readonly response: ResponseStrategy | undefined;
  readonly approvals: ApprovalPolicy | undefined;
  /** Reasons to ask a person that lie in the arguments of a call. */
  readonly gates: readonly CallGate[];
  /** Agents inside this one may ask a person, if this one does not. */
  readonly asksInside: boolean;
  /** Seconds a call of this tool may take; undefined means no limit. */
  readonly timeoutOf: (tool: string) => number | undefined;
  /**
   * The time-out of a tool that stops itself in time and returns a partial result: see `KEEPS_TIME`. The gate does not
   * stop it.
   */
  readonly ownTimeoutOf: (tool: string) => number | undefined;
  /** How many calls of one turn run at once; the tools of a group share its limit. */
  readonly concurrencyOf: (tool: string) => { readonly group: string; readonly limit: number };
}

/** Where the loop goes next, as node names: the order of phases is known here and nowhere else. */
export function entryNode(loop: Loop): string {
  return loop.hooks.beforeAgent[0]?.node ?? turnNode(loop);
}

export function turnNode(loop: Loop): string {
  return loop.hooks.beforeModel[0]?.node ?? MODEL_NODE;
}

export function exitNode(loop: Loop): string {
  return loop.hooks.afterAgent[0]?.node ?? END;
}

/** Whether there are calls a person might be asked about. */
export function asksPeople({ approvals, gates }: Pick<Loop, "approvals" | "gates">): boolean {
  return approvals !== undefined || gates.length > 0;
}

/** Whether a run needs a checkpointer, to wait for a person's decision. */
export function mustAskPeople({ approvals, gates }: Pick<Loop, "approvals" | "gates">): boolean {
  return approvals !== undefined || gates.some(({ asksIfPossible }) => asksIfPossible !== true);
}

export function hasNode(loop: Loop, name: string): boolean {
  if (name === MODEL_NODE || name === TOOLS_NODE) return true;
  if (name === APPROVAL_NODE) return asksPeople(loop);
  return Object.values(loop.hooks).some((groups) => groups.some((group) => group.node === name));
}

export function goTo(node: string): Write[] {
  return node === END ? [] : [[branchTo(node), null]];
}

export function readMessages(config: TaskConfig): Messages {
  return (readChannel(config, "messages") as Messages | undefined) ?? [];
}

/**
 * The state as hooks and tools see it: a key is read when it is looked at. Own enumerable accessors,
 * so that spreading it gives plain values.
 */
export function stateView(loop: Loop, config: TaskConfig): Record<string, unknown> {
  const view: Record<string, unknown> = {};
  for (const key of loop.stateKeys)
    Object.defineProperty(view, key, {
      enumerable: true,
      configurable: true,
      get: () => readChannel(config, key),
    });
  return view;
}
