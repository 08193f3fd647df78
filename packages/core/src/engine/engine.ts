/**
 * Everything we use of LangGraph that is not part of its public interface, and nothing else; how it hands
 * checkpoints over is in `engine-checkpoints.ts`.
 *
 * `engine.test.ts` runs a real graph against each of these names and fails loudly when LangGraph
 * changes one. No other file may spell them.
 */

import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { getCallbackManagerForConfig, patchConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { isRecord } from "../check-options.ts";
import { errorOnConsole } from "../console-line.ts";
import { DeepwrightError } from "../errors.ts";

/** The channel a `Send` is written to. */
export const TASKS = "__pregel_tasks";
/** Writing to `branchTo(node)` makes the engine run that node in the next superstep. */
export const branchTo = (node: string): string => `branch:to:${node}`;

const READ = "__pregel_read";
const SEND = "__pregel_send";
const SCRATCHPAD = "__pregel_scratchpad";
export const CHECKPOINTER = "__pregel_checkpointer";
const RESUMING = "__pregel_resuming";
const RESUME_MAP = "__pregel_resume_map";
const ABORT_SIGNALS = "__pregel_abort_signals";
const STREAM = "__pregel_stream";
const REPLAY_STATE = "__pregel_replay_state";
const INTERRUPT_CHANNEL = "__interrupt__";
const ERROR_CHANNEL = "__error__";
const NO_WRITES_CHANNEL = "__no_writes__";
const RESUME_CHANNEL = "__resume__";
const CHILD_CONFIG = Symbol.for("lc:child_config");
const CONTEXT_VARIABLES = Symbol.for("lc:context_variables");

export type Write = readonly [channel: string, value: unknown];
export type TaskConfig = LangGraphRunnableConfig & {
  readonly executionInfo?: {
    readonly checkpointId?: string;
    readonly checkpointNs?: string;
    readonly taskId?: string;
  };
  readonly control?: object;
};

/**
 * The store a graph was given. In tasks it is wrapped: the wrapper gathers calls, hides abilities of the store, and ends
 * the run only when all calls have ended.
 */
export function storeBehind<Store extends object>(store: Store): Store {
  const wrapper = store as { readonly lg_name?: string; readonly store?: Store };
  return wrapper.lg_name === "AsyncBatchedStore" && wrapper.store ? wrapper.store : store;
}

/** Whether `config` belongs to a running task (and not, say, to a tool invoked by hand). */
export function isTaskConfig(config: unknown): config is TaskConfig {
  return typeof (config as TaskConfig | undefined)?.configurable?.[READ] === "function";
}

/**
 * Reads a channel as it was at the start of this superstep: a reference, not a copy; undefined when
 * the channel is empty.
 */
export function readChannel(config: TaskConfig, key: string): unknown {
  return (internal(config, READ) as (select: string[]) => Record<string, unknown>)([key])[key];
}

/** Adds writes to this task; they are applied together when the superstep ends. */
export function sendWrites(config: TaskConfig, writes: readonly Write[]): void {
  if (writes.length > 0) (internal(config, SEND) as (writes: readonly Write[]) => void)(writes);
}

/**
 * The same config with its writes held back: they go to `hold` instead of the task. Answers to
 * interrupts are let through, because the engine must see them even when the task stops again.
 */
export function holdWrites(config: TaskConfig, hold: (writes: readonly Write[]) => void): TaskConfig {
  const send = internal(config, SEND) as (writes: readonly Write[]) => void;
  const held = (writes: readonly Write[]): void => {
    const answers = writes.filter(([channel]) => channel === RESUME_CHANNEL);
    if (answers.length > 0) send(answers);
    hold(writes.filter(([channel]) => channel !== RESUME_CHANNEL));
  };
  const scoped = { ...config, configurable: forChildren({ ...config.configurable, [SEND]: held }) };
  scopes.set(held, scoped);
  return scoped;
}

/**
 * The engine takes the mere key `checkpoint_id`, which every task has, for a wish to replay: a child that
 * is resumed would then run its finished tasks again. Taken away unless something is replayed.
 */
export function forChildren<C extends Record<string, unknown>>(configurable: C): C {
  const { checkpoint_id: id, ...rest } = configurable;
  const chosen = (rest.checkpoint_map as Record<string, unknown> | undefined)?.[String(rest.checkpoint_ns)];
  const replays = id !== undefined || chosen !== undefined || rest[REPLAY_STATE] !== undefined;
  return replays ? configurable : (rest as C);
}

/**
 * The config of a run inside a task that `signal` stops. By itself the engine has every run inside listen to the
 * signal of the outermost one and to no other.
 */
export function stoppedBy<Config extends { readonly configurable?: Record<string, unknown> }>(
  config: Config,
  signal: AbortSignal | undefined,
): Config {
  if (signal === undefined) return config;
  const configurable = { ...config.configurable, [ABORT_SIGNALS]: { externalAbortSignal: signal } };
  return { ...config, signal, configurable };
}

const scopes = new WeakMap<object, TaskConfig>();

/** LangChain hands a tool only some keys of its config on; this finds the one it was made from. */
export function wholeConfig(config: TaskConfig): TaskConfig {
  return scopes.get(internal(config, SEND) as object) ?? config;
}

/** Whether this task belongs to a superstep that was begun by an earlier run. */
export function isResumed(config: TaskConfig): boolean {
  return config.configurable?.[RESUMING] === true;
}

/** Sets the answer of `getCurrentTaskInput()` inside this task. */
export function setTaskInput(config: TaskConfig, input: unknown): void {
  (internal(config, SCRATCHPAD) as { currentTaskInput: unknown }).currentTaskInput = input;
}

/**
 * Whether the answer that `interrupt()` has just returned is the newest one. A task that asked again because it
 * could not use an answer is given all of them when it runs once more; where this run answers by id, the last one
 * that came without an id comes behind.
 */
export function isNewestAnswer(config: TaskConfig): boolean {
  const { interruptCounter, resume, nullResume } = internal(config, SCRATCHPAD) as {
    interruptCounter: number;
    resume: readonly unknown[];
    nullResume?: unknown;
  };
  const isLast = interruptCounter >= resume.length - 1;
  return isLast && (nullResume === undefined || config.configurable?.[RESUME_MAP] !== undefined);
}

/** The configurable of an outermost run that is stored by `saver`, whatever the graph has of its own. */
export function storedBy(configurable: Record<string, unknown>, saver: object): Record<string, unknown> {
  return { ...configurable, [CHECKPOINTER]: saver };
}

/** Runs `body` as if no task were around it: a run that begins there is part of no other and outlives this one. */
export function outsideTasks<T>(body: () => T): T {
  const storage = AsyncLocalStorageProviderSingleton.getInstance() as {
    run<R>(store: undefined, callback: () => R): R;
  };
  return storage.run(undefined, body);
}

/** The saver of this run; undefined when the agent has none. */
export function checkpointerOf(config: TaskConfig): PendingWritesReader | undefined {
  return config.configurable?.[CHECKPOINTER] as PendingWritesReader | undefined;
}

/** The slice of a checkpoint saver that looking at unfinished work needs. */
export interface PendingWritesReader {
  getTuple(config: LangGraphRunnableConfig): Promise<
    | {
        readonly config: LangGraphRunnableConfig;
        readonly parentConfig?: LangGraphRunnableConfig;
        readonly pendingWrites?: readonly (readonly [taskId: string, channel: string, value: unknown])[];
        readonly checkpoint: { readonly id: string; readonly channel_values?: Record<string, unknown> };
      }
    | undefined
  >;
}

/** Writes that the tasks of an interrupted superstep had left when the run stopped. */
export interface UnfinishedStep {
  /** Pending interrupts, in no particular order. */
  readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[];
  /** The writes of each task that had finished. */
  readonly finished: readonly (readonly Write[])[];
}

/** Sorts the pending writes of a checkpoint into pending interrupts and the work of finished tasks. */
export function unfinishedStep(
  pendingWrites: readonly (readonly [string, string, unknown])[] = [],
): UnfinishedStep {
  const interrupts = new Map<string, { id?: string; value?: unknown }[]>();
  const finished = new Map<string, Write[]>();
  const failed = new Set<string>();
  for (const [task, channel, value] of pendingWrites) {
    if (channel === INTERRUPT_CHANNEL)
      interrupts.set(task, (Array.isArray(value) ? value : [value]) as never);
    else if (channel === ERROR_CHANNEL) failed.add(task);
    else if (channel !== RESUME_CHANNEL) {
      const writes = finished.get(task) ?? [];
      if (channel !== NO_WRITES_CHANNEL) writes.push([channel, value]);
      finished.set(task, writes);
    }
  }
  for (const task of failed) finished.delete(task);
  // An interrupt stays on record after its task was answered and finished.
  for (const task of finished.keys()) interrupts.delete(task);
  return { interrupts: [...interrupts.values()].flat(), finished: [...finished.values()] };
}

/** The nodes a checkpoint was about to send packets to. */
export function awaitedNodes(
  checkpoint: { readonly channel_values?: Record<string, unknown> } | undefined,
): readonly string[] {
  const sends = checkpoint?.channel_values?.[TASKS];
  return Array.isArray(sends) ? sends.map((send) => String((send as { node?: unknown })?.node)) : [];
}

/** Whether this run is part of another graph's run. */
export function isNested(config: { configurable?: Record<string, unknown> } | undefined): boolean {
  return config?.configurable?.[READ] !== undefined;
}

/** Whether somebody who streams the run around this task wants to see what the runs inside do. */
export function isSeenInside(config: { configurable?: Record<string, unknown> }): boolean {
  return config.configurable?.[STREAM] !== undefined;
}

/** The config of the task around a graph that is run here without a config, if there is one. */
export function ambientConfigurable(): Record<string, unknown> | undefined {
  const config = AsyncLocalStorageProviderSingleton.getRunnableConfig() as TaskConfig | undefined;
  return isNested(config) ? config?.configurable : undefined;
}

/** The namespace of the graph a task belongs to. */
export function graphNamespace(config: TaskConfig): string {
  const parts = String(config.configurable?.checkpoint_ns ?? "").split("|");
  return parts.slice(0, -1).join("|");
}

function internal(config: TaskConfig, name: string): unknown {
  const value = config.configurable?.[name];
  if (value === undefined)
    throw new DeepwrightError("ENGINE_MISMATCH", `LangGraph did not provide '${name}' to a task.`, {
      hint: SUPPORTED_WORDS,
    });
  return value;
}

// -- versions -------------------------------------------------------------------------------------

/** The versions of LangGraph this package works with: its peer dependency. */
export const SUPPORTED = "~1.4.10";
const SUPPORTED_WORDS = `Install @langchain/langgraph ${SUPPORTED}; deepwright was tried with 1.4.18, 1.5.3 and 1.7.3.`;

/** Runs a stock graph and looks for what this file uses of a task: the names that are not there. */
export async function missingNames(): Promise<readonly string[]> {
  const { MemorySaver, MessagesAnnotation, START, StateGraph } = await import("@langchain/langgraph");
  let seen: Record<string, unknown> = {};
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("look", (_, config) => {
      seen = config.configurable ?? {};
      return {};
    })
    .addEdge(START, "look")
    .compile({ checkpointer: new MemorySaver() });
  const options = { configurable: { thread_id: "engine" }, subgraphs: true };
  for await (const _ of await graph.stream({ messages: [] }, options));
  const pad = (seen[SCRATCHPAD] ?? {}) as Record<string, unknown>;
  return [
    ...[READ, SEND, SCRATCHPAD, CHECKPOINTER, STREAM].filter((name) => seen[name] === undefined),
    ...["currentTaskInput", "interruptCounter", "resume"].filter((name) => !(name in pad)),
  ];
}

export function mismatchWords(names: readonly string[]): string {
  return `deepwright: This version of LangGraph lacks ${names.join(", ")}. ${SUPPORTED_WORDS}`;
}

async function warnOfMismatch(): Promise<void> {
  const names = await missingNames();
  if (names.length > 0) errorOnConsole(mismatchWords(names));
}

/** In production the first task that misses something says so. */
if (globalThis.process?.env?.NODE_ENV === "development")
  warnOfMismatch().catch((error: Error) =>
    errorOnConsole(`deepwright: LangGraph cannot be tried: ${error.message}. ${SUPPORTED_WORDS}`),
  );

// -- running a node -------------------------------------------------------------------------------

type Store = Record<PropertyKey, unknown> | undefined;
let template: Store;

/**
 * Runs `body` so that `getConfig()`, `interrupt()`, `getWriter()` and friends see `config`.
 *
 * The public way builds a tracing object for every call, which costs more than the call. Without a
 * tracer one shared, inert tracing object serves as prototype; with a tracer the public way is used.
 */
export function runInTask<T>(config: TaskConfig, body: () => T): T {
  const storage = AsyncLocalStorageProviderSingleton.getInstance() as {
    getStore(): Store;
    run<R>(store: Store, callback: () => R): R;
  };
  template ??= AsyncLocalStorageProviderSingleton.runWithConfig({}, () => storage.getStore()) as Store;
  if (template === undefined) return body();
  if (hasTracer(config)) return AsyncLocalStorageProviderSingleton.runWithConfig(config, body) as T;
  const store = Object.create(template) as Record<PropertyKey, unknown>;
  store.extra = { [CHILD_CONFIG]: config };
  const variables = storage.getStore()?.[CONTEXT_VARIABLES];
  if (variables !== undefined) store[CONTEXT_VARIABLES] = variables;
  return storage.run(store, body);
}

function handlersOf(config: TaskConfig): readonly { readonly name?: string }[] {
  const callbacks = config.callbacks;
  if (callbacks === undefined) return [];
  return Array.isArray(callbacks)
    ? (callbacks as { name?: string }[])
    : ((callbacks as CallbackManager).handlers ?? []);
}

/** Whether anybody, a stream or a tracer, hears what happens in this task. */
export function isListenedTo(config: TaskConfig): boolean {
  return handlersOf(config).length > 0;
}

function hasTracer(config: TaskConfig): boolean {
  return handlersOf(config).some((handler) => handler.name === "langchain_tracer");
}

/**
 * Runs one node of the loop: as a traced chain run when somebody listens, as a plain call otherwise.
 * The value of `body` is what listeners (the `messages` stream among them) see as the node's output.
 */
export async function runNode<T>(
  name: string,
  input: unknown,
  config: TaskConfig,
  body: (config: TaskConfig) => Promise<T>,
): Promise<T> {
  if (!isListenedTo(config)) return runInTask(config, () => body(config));
  const manager = await getCallbackManagerForConfig(config);
  const inputs = typeof input === "object" && input !== null && !Array.isArray(input) ? input : { input };
  const run = await manager?.handleChainStart(
    { lc: 1, type: "not_implemented", id: ["deepwright", name] },
    inputs as Record<string, unknown>,
    config.runId,
    undefined,
    undefined,
    undefined,
    config.runName ?? name,
  );
  const child = patchConfig(config, { callbacks: run?.getChild() }) as TaskConfig;
  try {
    const output = await runInTask(child, () => body(child));
    await run?.handleChainEnd(isRecord(output) ? output : { output });
    return output;
  } catch (error) {
    await run?.handleChainError(error);
    throw error;
  }
}
