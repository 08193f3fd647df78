/** An agent for LangGraph: a compiled graph with the nodes of the loop. */
import type { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Command, CompiledStateGraph, isCommand, Send, START, StateGraph } from "@langchain/langgraph";
import { EphemeralValue } from "@langchain/langgraph/channels";
import { type Ceiling, enterTree } from "../../backends/run-tree.ts";
import { forChildren, isNested, type TaskConfig } from "../../engine/engine.ts";
import { putInOrder, withGrowingIds } from "../../engine/engine-checkpoints.ts";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import type { Rules } from "../../permissions/rules.ts";
import type { Loop } from "../contract/loop.ts";
import { rethrowSafely } from "../failures/safe-failure.ts";
import { withoutUntrustedMarks } from "../messages/untrusted-marks.ts";
import { includesChildTokens, isFromAgent, withoutChildTokens } from "../run/child-tokens.ts";
import { readAhead } from "../run/read-ahead.ts";
import { checkResume, withoutHeadId } from "../run/resume.ts";
import { lockResume } from "../run/resume-lock.ts";
import { endedBy, RunStream, stopSignal } from "../run/run-stream.ts";
import { claimRun, claimToBegin, type RunNote } from "../run/run-thread-claim.ts";
import { claimSettings, type ThreadClaimOptions } from "../task/claim.ts";
import { linkedSignal } from "../task/linked-signal.ts";
import { observedNode, observedRun } from "../task/run-observer.ts";
import { withRunTree } from "../task/run-tree-options.ts";
import { agentContext } from "../task/runtime.ts";
import { withoutDecisions } from "../task/updates.ts";
import { type LoopNode, loopNodes, startNode } from "./nodes.ts";
import { FORKED_FROM, inputValues } from "./start-node.ts";

/** More supersteps than any run makes. Budgets and loop detection stop runs, not this limit. */
export const RECURSION_LIMIT = 1_000_000;
/**
 * Calls of one turn that the engine starts at once. The engine looks at all started calls whenever one ends; without a
 * bound this is a large part of the cost of hundreds of calls. The gateway decides which of them run.
 */
const MOST_BEGUN = 128;

export interface GraphSettings {
  readonly checkpointer?: unknown;
  readonly store?: unknown;
  readonly cache?: unknown;
  readonly debug?: boolean;
  readonly streamTransformers?: readonly unknown[];
  readonly threadClaim?: unknown;
  /** The permissions of the agent's backend, and the ceiling for runs inside its runs. */
  readonly permissions?: Rules | undefined;
  readonly ceiling?: Ceiling | undefined;
}

/** A part of a `version: "v2"` stream; `[]` in `ns` is the agent itself. */
export interface AnyStreamPart {
  readonly type: string;
  readonly ns: readonly string[];
  readonly data: unknown;
}

interface RunOptions extends RunnableConfig {
  readonly version?: string;
  readonly streamMode?: string | readonly string[];
  readonly subgraphs?: boolean;
  readonly context?: unknown;
  readonly outputKeys?: string | readonly string[];
  readonly encoding?: string;
  /** Set where the engine itself reads the stream. */
  readonly engineOnly?: boolean;
  readonly note?: RunNote;
}

interface Own {
  permissions: Rules | undefined;
  ceiling: Ceiling | undefined;
}

type AnyGraph = CompiledStateGraph<any, any, any, any, any, any>;
const Base = CompiledStateGraph as unknown as new (fields: Record<string, unknown>) => AnyGraph;

export class AgentGraph extends Base {
  declare readonly loop: Loop;
  declare readonly contextSchema: unknown;
  declare readonly threadClaim: ThreadClaimOptions | undefined;
  declare readonly permissions: Rules | undefined;
  declare readonly ceiling: Ceiling | undefined;

  static {
    putInOrder(AgentGraph.prototype);
  }

  constructor(fields: Record<string, unknown>) {
    super(fields);
    const own = this as { loop: Loop; contextSchema: unknown; threadClaim: unknown } & Own;
    own.loop = fields.loop as Loop;
    own.contextSchema = fields.contextSchema;
    own.threadClaim = fields.threadClaim;
    own.permissions = fields.permissions as Rules | undefined;
    own.ceiling = fields.ceiling as Ceiling | undefined;
  }

  override async _validateInput(input: unknown): Promise<any> {
    if (input === null || input === undefined) return input;
    if (isCommand(input)) return this.validateCommand(input);
    if (typeof input !== "object" || Array.isArray(input))
      throw new DeepwrightError("INVALID_INPUT", "The input of an agent is an object.", {
        hint: 'For example {messages: [{role: "user", content: "Hi"}]}.',
      });
    return this.loop.state.validate(inputValues(this.loop, input));
  }

  /** A copy: the caller may use the command again. */
  private async validateCommand(command: Command): Promise<Command> {
    const { update } = command;
    const goto = [command.goto ?? []]
      .flat()
      .map((target) => (target instanceof Send ? withoutDecisions(target) : target));
    if (typeof update !== "object" || update === null) return new Command({ ...command, goto } as never);
    const given = inputValues(this.loop, Array.isArray(update) ? Object.fromEntries(update) : update);
    const checked = await this.loop.state.validate(given);
    const messages = checked.messages as BaseMessage[] | undefined;
    // The thread is not known here, so no mark is trusted.
    const believed = messages ? { ...checked, messages: withoutUntrustedMarks(messages, []) } : checked;
    return new Command({ ...command, goto, update: believed } as never);
  }

  /** `stream` has checked it. */
  override async _validateContext(context: any): Promise<any> {
    return context;
  }

  override async invoke(input: any, options?: any): Promise<any> {
    const { version, ...rest } = options ?? {};
    const note: RunNote = {};
    const { signal, release } = linkedSignal(rest.signal);
    const result = await super
      .invoke(input, { ...rest, ...(signal && { signal }), engineOnly: true, note } as never)
      .catch((error: unknown) => endedBy(error, note))
      .finally(release);
    if (version !== "v2") return result;
    const { __interrupt__, ...value } = result as Record<string, unknown>;
    return { value, interrupts: __interrupt__ ?? [] };
  }

  /** Claims the thread before reading it, so that a run that waited starts from the state that the other run left. */
  override async stream(input: any, options?: any): Promise<any> {
    const { note = {}, ...given } = (options ?? {}) as RunOptions;
    note.claim = await claimRun(this, given);
    if (note.claim === undefined) return this.run(input, given, note);
    return this.run(input, note.claim.into(given), note).catch((error) => endedBy(error, note));
  }

  private async run(given: any, options: RunOptions, note: RunNote): Promise<any> {
    const { engineOnly, version, ...others } = options;
    const rest = this.settled(await withoutHeadId(this, given, others));
    const input = (await checkResume(this, given, rest as TaskConfig)) as any;
    // Here `version` belongs to streamEvents; the engine reacts to the mere presence of the key.
    if (engineOnly)
      return super.stream(input, (version === undefined ? rest : { ...rest, version }) as never);
    const inParts = version === "v2" && rest.encoding === undefined;
    const { streamMode = "updates", subgraphs } = rest;
    const modes = inParts ? { streamMode: typeof streamMode === "string" ? [streamMode] : streamMode } : {};
    const stop = new AbortController();
    const signal = stopSignal(stop, rest.signal);
    const run = await super.stream(input, { ...rest, ...modes, signal } as never);
    const mapped = (chunk: unknown) => (inParts ? streamPart(chunk, subgraphs === true) : chunk);
    return new RunStream(run, stop, mapped, note);
  }

  /** Every run comes through here, also a run as part of a sequence, which does not call `stream`. */
  override async *_streamIterator(input: any, given?: any): AsyncGenerator<any> {
    const begun = claimToBegin(given);
    const options: any = withRunTree(this.loop, given);
    const claim = begun ?? (await claimRun(this, options ?? {}));
    const claimed = begun ? options : (claim?.into(options ?? {}) ?? options);
    const run = observedRun(this.loop, enterTree(claimed, this.ceiling), (own) =>
      super._streamIterator(input, own),
    );
    const chunks = !isNested(options) && includesChildTokens(options ?? {}) ? withoutChildTokens(run) : run;
    const release = claim
      ? claim.begin() && (() => claim.release())
      : await this.answer(input, options ?? {});
    if (release) yield* readAhead(chunks, release);
    else yield* chunks;
  }

  /** Looks again at the interrupt once no other run can answer it. */
  private async answer(input: unknown, options: RunOptions): Promise<(() => Promise<void>) | undefined> {
    const release = lockResume(this, input, options);
    if (release === undefined) return undefined;
    try {
      await checkResume(this, input, options as TaskConfig);
    } catch (error) {
      release();
      throw error;
    }
    return async () => release();
  }

  /** One step at a time: the engine hands the claim on within a step, but not to the next. */
  override async bulkUpdateState(config: any, steps: any): Promise<any> {
    const claim = await claimRun(this, config ?? {});
    if (claim === undefined) return super.bulkUpdateState(config, steps);
    const claimed = (given: RunOptions) =>
      ({ ...given, configurable: claim.configurable(given.configurable) }) as never;
    try {
      const isOne =
        steps.length < 2 || steps.some((step: { updates: unknown[] }) => step.updates.length === 0);
      if (isOne) return await super.bulkUpdateState(claimed(config), steps);
      let next = config;
      for (const step of steps)
        next = await super.bulkUpdateState(claimed(withGrowingIds(next, this.checkpointer)), [step]);
      return next;
    } finally {
      await claim.release();
    }
  }

  override streamEvents(input: any, options: any, streamOptions?: any): any {
    if (options?.version === "v3") return this.streamEventsV3(input, { ...options, engineOnly: true });
    const stop = new AbortController();
    const note: RunNote = {};
    const own = { ...options, signal: stopSignal(stop, options?.signal), engineOnly: true, note };
    return new RunStream(super.streamEvents(input, own, streamOptions), stop, (event) => event, note);
  }

  /** The options of a run with the settings of this agent: no stream shows private keys. */
  private settled(given: RunOptions): RunOptions {
    const bound = (this.config as { context?: unknown } | undefined)?.context;
    const context = agentContext(this.contextSchema, given.context ?? bound);
    return {
      outputKeys: this.loop.state.outputKeys,
      ...given,
      ...(context === undefined ? {} : { context }),
      ...(isNested(given) ? nested(given) : this.origin(given)),
    };
  }

  /** The engine does not tell its tasks from which checkpoint a run goes on. */
  private origin({ configurable }: RunOptions): object {
    const from = configurable?.checkpoint_id ?? this.config?.configurable?.checkpoint_id;
    return from === undefined ? {} : { configurable: { ...configurable, [FORKED_FROM]: from } };
  }

  /** LangChain's transformers give `run.toolCalls` and `run.subagents`; loaded when first wanted. */
  private async streamEventsV3(
    input: unknown,
    options: { transformers?: unknown[]; signal?: AbortSignal },
  ): Promise<unknown> {
    const { createToolCallTransformer, createSubagentTransformer } = await import("langchain");
    const transformers = [
      createToolCallTransformer([]),
      createSubagentTransformer([]),
      ...(options.transformers ?? []),
    ];
    const stop = new AbortController();
    const signal = stopSignal(stop, options.signal);
    const given = { ...options, signal, transformers } as never;
    const run = (await super.streamEvents(input as never, given)) as unknown as { signal: AbortSignal };
    run.signal.addEventListener("abort", () => stop.abort(run.signal.reason), { once: true });
    return run;
  }
}

/** The run of another graph hands its own limit of supersteps down. */
function nested({ configurable }: RunOptions): object {
  return { recursionLimit: RECURSION_LIMIT, configurable: forChildren({ ...configurable }) };
}

function streamPart(chunk: unknown, subgraphs: boolean): AnyStreamPart {
  const [ns, type, data] = (subgraphs ? chunk : [[], ...(chunk as unknown[])]) as [string[], string, unknown];
  return { type, ns: isFromAgent(ns, type, data) ? [] : ns, data };
}

/** Fields every compiled graph is constructed from; the subclass may add its own. */
export function graphFields(
  loop: Loop,
  contextSchema: unknown,
  settings: GraphSettings,
): Record<string, unknown> {
  if (contextSchema !== undefined && typeof contextSchema !== "object")
    throw new ConfigurationError("INVALID_OPTION", "The option 'contextSchema' must be a zod object.");
  const { channels, inputKeys, outputKeys } = loop.state;
  const pick = (keys: readonly string[]): Record<string, unknown> =>
    Object.fromEntries(keys.map((key) => [key, channels[key]]));
  const builder = new StateGraph({
    state: { ...channels },
    input: pick(inputKeys),
    output: pick(outputKeys),
    ...(contextSchema ? { context: contextSchema } : {}),
  } as never) as unknown as {
    addNode(name: string, body: () => unknown, options: object): void;
    addEdge(a: string, b: string): void;
  };
  for (const node of loopNodes(loop)) builder.addNode(node.name, () => undefined, { ends: node.ends });
  builder.addEdge(START, startNode(loop).ends[0] as string);
  return {
    builder,
    loop,
    contextSchema,
    autoValidate: false,
    nodes: {},
    channels: { ...channels, [START]: new EphemeralValue() },
    inputChannels: START,
    outputChannels: [...outputKeys],
    streamChannels: Object.keys(channels),
    streamMode: "updates",
    checkpointer: settings.checkpointer,
    store: settings.store,
    cache: settings.cache,
    debug: settings.debug,
    threadClaim: claimSettings(settings.threadClaim, settings.checkpointer),
    permissions: settings.permissions,
    ceiling: settings.ceiling,
    name: loop.name,
    streamTransformers: settings.streamTransformers,
    config: {
      recursionLimit: RECURSION_LIMIT,
      maxConcurrency: mostBegun(loop),
      metadata: { ls_integration: "deepwright", ...(loop.name ? { lc_agent_name: loop.name } : {}) },
      configurable: { ls_agent_type: "root" },
    },
  };
}

function mostBegun({ tools, concurrencyOf }: Loop): number {
  const limits = tools.map((tool) => concurrencyOf((tool as { name?: string }).name ?? "").limit);
  return Math.max(MOST_BEGUN, ...limits);
}

interface EngineNode {
  getNode(): unknown;
  getWriters(): unknown[];
}

/** Lets the engine lay out channels and triggers, then puts our lean nodes in place of its own. */
export function attachNodes(graph: AgentGraph): void {
  const target = graph as unknown as {
    nodes: Record<string, EngineNode>;
    builder: { nodes: Record<string, unknown> };
    attachNode(key: string, spec?: unknown): void;
    validate(): void;
  };
  const { loop } = graph;
  target.attachNode(START);
  replaceNode(target.nodes[START] as EngineNode, startNode(loop));
  for (const node of loopNodes(loop)) {
    target.attachNode(node.name, target.builder.nodes[node.name]);
    replaceNode(target.nodes[node.name] as EngineNode, node);
  }
  target.validate();
}

function replaceNode(slot: EngineNode, node: LoopNode): void {
  const body: { invoke: LoopNode["run"] } = {
    invoke: (input, config) => observedNode(config, node.run(input, config).catch(rethrowSafely)),
  };
  const writer = { invoke: node.update };
  slot.getNode = () => body;
  slot.getWriters = () => [writer];
}
