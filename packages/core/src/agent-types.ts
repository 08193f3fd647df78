/**
 * Types of an agent. Kept shallow on purpose: schemas are read by shape, tools are not inspected, and middleware is
 * folded as a union, so that large agents stay cheap to check.
 */

import type { BaseCache } from "@langchain/core/caches";
import type { BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, BaseStore, Command, Interrupt, StreamMode } from "@langchain/langgraph";
import type { ProviderStrategy, TypedToolStrategy } from "langchain";
import type { AnyFileData, FileData } from "./backends/backend.ts";
import type { BackendSource } from "./backends/resolve.ts";
import type { Budget } from "./budget/limits.ts";
import type { CheckedTodo } from "./checks/check.ts";
import type { InterruptOn } from "./loop/approval-rules/approval-policy.ts";
import type { Outcome } from "./loop/messages/outcome.ts";
import type { ThreadClaimOptions } from "./loop/task/claim.ts";
import type { PromptParts } from "./options.ts";
import type { PermissionList } from "./permissions/rules.ts";
import type { ProfileOption } from "./profiles/resolve.ts";
import type { AsyncTasks } from "./subagents/async/async-task.ts";
import type { GraphSources } from "./subagents/async/graphs.ts";
import type { UntrustedSources } from "./subagents/defaults.ts";
import type { AnySubAgent } from "./subagents/spec.ts";

/** Anything with a name and an `invoke`, or a provider's own tool record, or a function with a schema. */
export type AgentTool =
  | { name: string; invoke: (...args: any[]) => any }
  | ((...args: any[]) => unknown)
  | Record<string, unknown>;

/** The public side of a middleware. Type inference reads its state schema. */
export interface AnyMiddleware {
  name: string;
  readonly "~middlewareTypes"?: any;
}

export interface CreateDeepAgentParams<
  TMiddleware extends readonly (AnyMiddleware | Record<string, false>)[] = readonly (
    | AnyMiddleware
    | Record<string, false>
  )[],
  TState = unknown,
  TContext = unknown,
  TResponse = unknown,
> {
  /** `"provider:model"` or a chat model. Default: `"anthropic:claude-sonnet-4-6"`. */
  model?: string | { invoke: (...args: any[]) => any } | null;
  /** Laid over the profiles that are registered for the model, here and in subagents; false: no profile at all. */
  profile?: ProfileOption | null;
  tools?: readonly AgentTool[] | null;
  systemPrompt?: string | SystemMessage | PromptParts | null;
  middleware?: TMiddleware | null;
  /** Subagents that the agent can delegate to. A general-purpose subagent is added. */
  subagents?: readonly AnySubAgent[] | null;
  /** Agents of this process that async subagents name by `graphId`, besides those of `registerGraph`. */
  asyncAgents?: GraphSources | null;
  /** A zod object, a StateSchema or an Annotation: keys added to the agent's state. */
  stateSchema?: TState | null;
  /** A zod object: what callers pass as `context`. It never reaches the prompt by itself. */
  contextSchema?: TContext | null;
  /** A schema, toolStrategy(...) or providerStrategy(...): the result is in `structuredResponse`. */
  responseFormat?: TResponse | null;
  checkpointer?: BaseCheckpointSaver | boolean | null;
  /** One run at a time per thread, where the checkpointer can claim threads. Default: off. */
  threadClaim?: ThreadClaimOptions | null;
  store?: BaseStore | null;
  cache?: BaseCache<any> | object | null;
  /** Where files live. Default: in the state of the thread. */
  backend?: BackendSource | null;
  /** Paths of AGENTS.md files: they stand in the prompt, and the agent keeps them up to date. */
  memory?: readonly string[] | null;
  /** Directories of skills (`<name>/SKILL.md`). If two skills have the same name, the later directory wins. */
  skills?: readonly string[] | null;
  /**
   * Memory and skills from sources that you do not trust: they are data outside the system prompt, in subagents too.
   * Default: none.
   */
  untrusted?: UntrustedSources | null;
  /** Paths the agent may read and write. The first matching rule decides; a path that matches no rule is allowed. */
  permissions?: PermissionList | null;
  /** Permissions that no agent inside its runs may exceed, whatever its own permissions say. */
  permissionCeiling?: PermissionList | null;
  /** Tools a person must approve. Needs a checkpointer. */
  interruptOn?: InterruptOn | null;
  /**
   * Limits for a run with all the runs inside it. Beyond them it ends with the outcome `budget`. Default: no limit.
   */
  budget?: Budget | null;
  /** Seconds a tool call may take; one number for all or one per tool. Default: no limit. */
  toolTimeout?: number | Record<string, number> | null;
  /** Calls of one turn that run at once. Default: 16. */
  toolConcurrency?: number | Record<string, number> | null;
  name?: string | null;
  debug?: boolean | null;
  streamTransformers?: readonly unknown[] | null;
}

/** The named keys that are not private; an index signature would swallow the agent's own. */
type Public<T> = { [K in keyof T as string extends K ? never : K extends `_${string}` ? never : K]: T[K] };
type IsAny<T> = 0 extends 1 & T ? true : false;

/** The value of a zod object, a StateSchema or an Annotation; never when there is no schema. */
type ValueOf<S> =
  IsAny<S> extends true
    ? never
    : S extends { _output: infer O }
      ? O
      : S extends { State: infer V }
        ? V
        : never;

type InputOf<S> =
  IsAny<S> extends true
    ? never
    : S extends { _input: infer I }
      ? I
      : S extends { Update: infer U }
        ? Partial<U>
        : never;

type SchemaOf<M> = M extends { readonly "~middlewareTypes"?: { Schema: infer S } } ? S : never;

/** The intersection of a union's members; unknown for none. */
type Fold<U> = (U extends unknown ? (u: Public<U>) => void : never) extends (i: infer I) => void ? I : never;

type ResponseOf<R> = R extends { _output: infer O }
  ? O
  : R extends TypedToolStrategy<infer T> | ProviderStrategy<infer T>
    ? T
    : R extends readonly (infer Item)[]
      ? ResponseOf<Item>
      : R extends object
        ? Record<string, unknown>
        : never;

export interface BuiltInResult {
  messages: BaseMessage[];
  files: Record<string, FileData>;
  todos: CheckedTodo[];
  /** Present for agents with async subagents. */
  asyncTasks?: AsyncTasks;
  outcome: Outcome;
  __interrupt__?: Interrupt[];
}

export interface BuiltInInput {
  messages?: unknown;
  files?: Record<string, AnyFileData | null>;
  /** Taken and passed over: skills are found by themselves. */
  skillsMetadata?: unknown;
}

/** The result of `invoke`. */
export type AgentResult<M extends readonly unknown[], S, R> = BuiltInResult &
  Fold<ValueOf<S>> &
  Fold<ValueOf<SchemaOf<M[number]>>> &
  (unknown extends R ? unknown : { structuredResponse: ResponseOf<R> });

export type AgentInput<S, M extends readonly unknown[] = readonly []> =
  | (BuiltInInput & Partial<Fold<InputOf<S>>> & Partial<Fold<InputOf<SchemaOf<M[number]>>>>)
  | Command<any, any, any>
  | null;

export type ContextOf<C> = unknown extends C
  ? Record<string, any>
  : C extends { _input: infer I }
    ? I
    : Record<string, any>;

export interface RunOptions<TContext = Record<string, any>> extends RunnableConfig {
  context?: TContext;
  store?: BaseStore;
  durability?: "sync" | "async" | "exit";
  /** `"v2"`: invoke gives `{value, interrupts}`, stream gives `{type, ns, data}`. */
  version?: "v2";
  interruptBefore?: string[] | "*";
  interruptAfter?: string[] | "*";
}

export interface StreamOptions<TContext = Record<string, any>> extends RunOptions<TContext> {
  streamMode?: StreamMode | StreamMode[];
  subgraphs?: boolean;
  encoding?: "text/event-stream";
}
