/** An agent as LangGraph knows it: a compiled graph, whose nodes are the loop's. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { IterableReadableStream } from "@langchain/core/utils/stream";
import { CompiledStateGraph, isCommand, START, StateGraph } from "@langchain/langgraph";
import { EphemeralValue } from "@langchain/langgraph/channels";
import { isNested, type TaskConfig } from "../engine.ts";
import { DeepwrightError } from "../errors.ts";
import type { Loop } from "./loop.ts";
import { type LoopNode, loopNodes, startNode } from "./nodes.ts";
import { checkResume } from "./resume.ts";
import { inputValues } from "./start-node.ts";

/** Supersteps nobody reaches by working; budgets and loop detection stop runs, not this. */
export const RECURSION_LIMIT = 1_000_000;

export interface GraphSettings {
  readonly checkpointer?: unknown;
  readonly store?: unknown;
  readonly cache?: unknown;
  readonly debug?: boolean;
  readonly streamTransformers?: readonly unknown[];
}

/** A part of a `version: "v2"` stream. */
export interface StreamPart {
  readonly type: string;
  /** `[]` for the agent itself; begins with `tools:<id>` inside a subagent. */
  readonly ns: readonly string[];
  readonly data: unknown;
}

interface RunOptions extends RunnableConfig {
  readonly version?: string;
  readonly streamMode?: string | readonly string[];
  readonly subgraphs?: boolean;
  /** Set by streamEvents, whose `version` means something else. */
  readonly forEvents?: boolean;
}

type AnyGraph = CompiledStateGraph<any, any, any, any, any, any>;
const Base = CompiledStateGraph as unknown as new (fields: Record<string, unknown>) => AnyGraph;

export class AgentGraph extends Base {
  declare readonly loop: Loop;

  constructor(fields: Record<string, unknown>) {
    super(fields);
    (this as { loop: Loop }).loop = fields.loop as Loop;
  }

  override async _validateInput(input: unknown): Promise<any> {
    if (input === null || input === undefined) return input;
    if (isCommand(input)) {
      const { update } = input as { update?: unknown };
      if (typeof update === "object" && update !== null && !Array.isArray(update))
        (input as { update?: unknown }).update = await this.loop.state.validate(
          update as Record<string, unknown>,
        );
      return input;
    }
    if (typeof input !== "object" || Array.isArray(input))
      throw new DeepwrightError("INVALID_INPUT", "The input of an agent is an object.", {
        hint: 'For example {messages: [{role: "user", content: "Hi"}]}.',
      });
    return this.loop.state.validate(inputValues(this.loop, input));
  }

  override async invoke(input: any, options?: any): Promise<any> {
    if (options?.version !== "v2") return super.invoke(input, options);
    const { version: _, ...rest } = options;
    const { __interrupt__, ...value } = (await super.invoke(input, rest)) as Record<string, unknown>;
    return { value, interrupts: __interrupt__ ?? [] };
  }

  override async stream(input: any, options?: any): Promise<any> {
    const { forEvents, ...given } = (options ?? {}) as RunOptions;
    const rest = isNested(given) ? { ...given, recursionLimit: RECURSION_LIMIT } : given;
    await checkResume(this, input, rest as TaskConfig);
    if (rest.version !== "v2" || forEvents) return super.stream(input, rest as never);
    const { version: _, streamMode, ...plain } = rest;
    const modes =
      streamMode === undefined
        ? ["updates"]
        : typeof streamMode === "string"
          ? [streamMode]
          : [...streamMode];
    const chunks = await super.stream(input, { ...plain, streamMode: modes } as never);
    return IterableReadableStream.fromAsyncGenerator(
      parts(chunks as AsyncIterable<unknown>, rest.subgraphs === true),
    );
  }

  override streamEvents(input: any, options: any, streamOptions?: any): any {
    if (options?.version === "v3") return this.streamEventsV3(input, options);
    return super.streamEvents(input, { ...options, forEvents: true }, streamOptions);
  }

  /** LangChain's transformers give `run.toolCalls` and `run.subagents`; loaded when first wanted. */
  private async streamEventsV3(input: unknown, options: { transformers?: unknown[] }): Promise<unknown> {
    const { createToolCallTransformer, createSubagentTransformer } = await import("langchain");
    const transformers = [
      createToolCallTransformer([]),
      createSubagentTransformer([]),
      ...(options.transformers ?? []),
    ];
    return super.streamEvents(input as never, { ...options, transformers } as never);
  }
}

async function* parts(chunks: AsyncIterable<unknown>, subgraphs: boolean): AsyncGenerator<StreamPart> {
  for await (const chunk of chunks) {
    const [ns, type, data] = (subgraphs ? chunk : [[], ...(chunk as unknown[])]) as [
      string[],
      string,
      unknown,
    ];
    yield { type, ns: ns.length === 1 && ns[0] === "" ? [] : ns, data };
  }
}

/** Fields every compiled graph is constructed from; the subclass may add its own. */
export function graphFields(
  loop: Loop,
  contextSchema: unknown,
  settings: GraphSettings,
): Record<string, unknown> {
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
    name: loop.name,
    streamTransformers: settings.streamTransformers,
    config: {
      recursionLimit: RECURSION_LIMIT,
      metadata: { ls_integration: "deepwright", ...(loop.name ? { lc_agent_name: loop.name } : {}) },
    },
  };
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
  const body = { invoke: node.run };
  const writer = { invoke: node.update };
  slot.getNode = () => body;
  slot.getWriters = () => [writer];
}
