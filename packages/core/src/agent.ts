/** createDeepAgent: reads the options, asks the stack for the middleware, compiles the loop. */
import type { Runnable } from "@langchain/core/runnables";
import type { StreamEvent } from "@langchain/core/tracers/log_stream";
import type { IterableReadableStream } from "@langchain/core/utils/stream";
import type { Interrupt, StreamMode } from "@langchain/langgraph";
import type {
  AgentInput,
  AgentResult,
  AnyMiddleware,
  BuiltInResult,
  ContextOf,
  CreateDeepAgentParams,
  RunOptions,
  StreamOptions,
} from "./agent-types.ts";
import { buildAgentLoop } from "./child-agent.ts";
import { agentAsyncDelegation, agentDelegation } from "./delegation.ts";
import { type AgentDescription, describeLoop } from "./describe.ts";
import type { InterruptOn } from "./loop/approval-rules/approval-policy.ts";
import { AgentGraph, attachNodes, graphFields } from "./loop/graph/agent-graph.ts";
import {
  DEFAULT_MODEL,
  listOption,
  nameOption,
  pathsOption,
  presentOptions,
  promptOption,
  splitMiddleware,
  untrustedOption,
} from "./options.ts";
import { gatesFor, permissionsOption } from "./permissions/agent-rules.ts";
import { ceilingOf } from "./permissions/ceiling.ts";
import {
  explainPermission,
  type FilesystemOperation,
  type PermissionExplanation,
} from "./permissions/rules.ts";
import { resolveHarnessProfile, withExtraMiddleware } from "./profiles/resolve.ts";
import { middlewareStack } from "./stack.ts";
import type {
  DeepAgentRunStream,
  EncodedOptions,
  EventOptions,
  PartOptions,
  RunStreamOptions,
  StreamPart,
} from "./stream-types.ts";
import type { ChildDefaults } from "./subagents/defaults.ts";
import { type BackgroundSubAgent, checkedSubAgents } from "./subagents/spec.ts";

/** Selects the events that are wanted. */
type EventFilter = Parameters<Runnable["streamEvents"]>[2];
type EncodedStream = IterableReadableStream<Uint8Array>;

/** A compiled deep agent: a LangGraph graph, usable wherever one is. */
export class DeepAgent<
  TResult = BuiltInResult,
  TInput = AgentInput<unknown>,
  TContext = Record<string, any>,
> extends AgentGraph {
  /** The options it was built with, as they were given. */
  readonly options: Readonly<CreateDeepAgentParams>;

  constructor(fields: Record<string, unknown>) {
    super(fields);
    this.options = (fields.options ?? {}) as CreateDeepAgentParams;
  }

  /** The compiled graph, which is the agent itself. */
  get graph(): this {
    return this;
  }

  /** Prompt, tools and middleware with their estimated token cost; prints well as a string. */
  describe(): AgentDescription {
    return describeLoop(this.loop);
  }

  /** Explains the permissions of a path, and names the rule that decides. */
  explain(path: string, operation: FilesystemOperation): PermissionExplanation {
    return explainPermission(this.permissions, path, operation);
  }

  /** The graph of the agent as a Mermaid diagram. */
  async drawMermaid(
    parameters?: Parameters<ReturnType<AgentGraph["getGraph"]>["drawMermaid"]>[0],
  ): Promise<string> {
    return this.getGraph().drawMermaid(parameters);
  }

  /** The same as a PNG. LangChain sends the diagram to mermaid.ink, which draws it. */
  async drawMermaidPng(
    parameters?: Parameters<ReturnType<AgentGraph["getGraph"]>["drawMermaidPng"]>[0],
  ): Promise<Uint8Array> {
    const picture = await this.getGraph().drawMermaidPng(parameters);
    return new Uint8Array(await picture.arrayBuffer());
  }

  override invoke(
    input: TInput,
    options: RunOptions<TContext> & { version: "v2" },
  ): Promise<{ value: TResult; interrupts: Interrupt[] }>;
  override invoke(input: TInput, options?: RunOptions<TContext>): Promise<TResult>;
  override invoke(input: TInput, options?: RunOptions<TContext>): Promise<any> {
    return super.invoke(input, options);
  }

  override stream<TMode extends StreamMode = "updates">(
    input: TInput,
    options: PartOptions<TContext, TMode>,
  ): Promise<IterableReadableStream<StreamPart<TMode, TResult>>>;
  override stream(input: TInput, options?: StreamOptions<TContext>): Promise<IterableReadableStream<any>>;
  override stream(input: TInput, options?: StreamOptions<TContext>): Promise<IterableReadableStream<any>> {
    return super.stream(input, options);
  }

  override streamEvents(
    input: TInput,
    options: RunStreamOptions<TContext>,
  ): Promise<DeepAgentRunStream<TResult>>;
  override streamEvents(
    input: TInput,
    options: EventOptions<TContext>,
    streamOptions?: EventFilter,
  ): IterableReadableStream<StreamEvent>;
  override streamEvents<TVersion extends "v1" | "v2" | "v3">(
    input: TInput,
    options: EncodedOptions<TContext, TVersion>,
    streamOptions?: EventFilter,
  ): TVersion extends "v3" ? Promise<EncodedStream> : EncodedStream;
  override streamEvents(input: TInput, options: any, streamOptions?: EventFilter): any {
    return super.streamEvents(input, options, streamOptions);
  }
}

/**
 * Builds a deep agent: a model in a loop with a todo list, files and the given tools. Synchronous and
 * without I/O; a model named by a string is loaded when it is first called.
 */
export function createDeepAgent<
  const TMiddleware extends readonly (AnyMiddleware | Record<string, false>)[] = readonly [],
  TState = unknown,
  TContext = unknown,
  TResponse = unknown,
>(
  params: CreateDeepAgentParams<TMiddleware, TState, TContext, TResponse> = {},
): DeepAgent<
  AgentResult<TMiddleware, TState, TResponse>,
  AgentInput<TState, TMiddleware>,
  ContextOf<TContext>
> {
  const options = presentOptions(params);
  const permissions = permissionsOption(options);
  const { given, off } = splitMiddleware(listOption(options, "middleware"));
  const model = options.model ?? DEFAULT_MODEL;
  const { profile, keys } = resolveHarnessProfile(model, options.profile);
  const prompt = promptOption(options.systemPrompt, profile);
  const children = childDefaults(options, model, off);
  const background: BackgroundSubAgent[] = [];
  const delegation = {
    subagents: checkedSubAgents(listOption(options, "subagents"), (subAgent) => background.push(subAgent)),
    generalPurpose: profile.generalPurposeSubagent,
  };
  const loop = buildAgentLoop({
    name: nameOption(options),
    model,
    tools: listOption(options, "tools"),
    middleware: middlewareStack({
      backend: options.backend as never,
      permissions,
      memory: pathsOption(options, "memory"),
      skills: pathsOption(options, "skills"),
      untrusted: untrustedOption(options),
      budget: options.budget as never,
      subagents: agentDelegation(delegation, children),
      asyncSubagents: agentAsyncDelegation(background, options.asyncAgents),
      children,
      delegation,
      given: withExtraMiddleware(given, off, profile),
      off,
      excluded: profile.excludedMiddleware,
      excludedTools: profile.excludedTools,
    }),
    promptBefore: prompt.before,
    promptAfter: prompt.after,
    toolShape: { excluded: profile.excludedTools, descriptions: profile.toolDescriptionOverrides },
    profileKeys: keys,
    stateSchema: options.stateSchema,
    responseFormat: options.responseFormat,
    interruptOn: options.interruptOn as InterruptOn | undefined,
    gates: gatesFor(options.backend, permissions),
    toolTimeout: options.toolTimeout as number | undefined,
    toolConcurrency: options.toolConcurrency as number | undefined,
  });
  const transformers = loop.middleware.flatMap((m) => [...(m.streamTransformers ?? [])] as unknown[]);
  const agent = new DeepAgent({
    options: params,
    ...graphFields(loop, options.contextSchema, {
      checkpointer: options.checkpointer,
      threadClaim: options.threadClaim,
      store: options.store,
      cache: options.cache,
      debug: options.debug as boolean | undefined,
      permissions,
      ceiling: ceilingOf(options.permissionCeiling as never),
      streamTransformers: [...transformers, ...listOption(options, "streamTransformers")],
    }),
  });
  attachNodes(agent);
  return agent as never;
}

/** Defaults that the subagents inherit from the agent. */
function childDefaults(
  options: Record<string, unknown>,
  model: unknown,
  off: ReadonlySet<string>,
): ChildDefaults {
  return {
    model,
    off,
    tools: listOption(options, "tools"),
    backend: options.backend as ChildDefaults["backend"],
    permissions: options.permissions as ChildDefaults["permissions"],
    skills: pathsOption(options, "skills"),
    untrusted: untrustedOption(options),
    stateSchema: options.stateSchema,
    profile: options.profile,
    interruptOn: options.interruptOn as InterruptOn | undefined,
    toolTimeout: options.toolTimeout as number | undefined,
    toolConcurrency: options.toolConcurrency as number | undefined,
  };
}
