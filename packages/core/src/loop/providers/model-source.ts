/** Where the chat model comes from: an instance, or a `provider:model` string resolved at first use. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type RunnableBinding, RunnableBinding as RunnableBindingClass } from "@langchain/core/runnables";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { fieldSecrets, holdSecrets } from "../../secrets.ts";
import type { AnyTool } from "./any-tool.ts";
import { loadChatModel } from "./load-model.ts";
import { givenModelName } from "./model-key.ts";
import { strictBinding } from "./strict-tools.ts";

export type ChatModel = BaseChatModel;

export interface ModelSource {
  /** As the user wrote it, for descriptions and errors. */
  readonly label: string;
  /** `run` is what the run was called with: LangChain's configurable models look there. */
  resolve(run?: RunConfig): ChatModel | Promise<ChatModel>;
  /** The model, if it was resolved before. */
  known?(): ChatModel | undefined;
}

interface RunConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

/** Constructing does no I/O: a string is looked up when the model is first called, and then kept. */
export function modelSource(model: unknown): ModelSource {
  if (typeof model === "string") return namedModel(model);
  if (typeof model === "object" && model !== null && typeof (model as BaseChatModel).invoke === "function") {
    refuseBoundTools(model as BaseChatModel);
    return instanceSource(model as BaseChatModel);
  }
  throw new ConfigurationError(
    "INVALID_OPTION",
    "The option 'model' must be a 'provider:model' string or a chat model.",
  );
}

function instanceSource(model: BaseChatModel): ModelSource {
  const isItself = typeof (model as Configurable)._getModelInstance !== "function";
  return {
    label: labelOf(model),
    resolve: (run) => instanceOf(model, run),
    known: () => (isItself ? model : undefined),
  };
}

/** By instance: what a model that was made from a string was called there. */
const names = new WeakMap<object, string>();

/** Models that share one limit at the provider, as far as we know: made from one string, or one instance. */
export type ModelPool = string | ChatModel;

export function poolOf(model: ChatModel): ModelPool {
  const client = innermostModel(model);
  return names.get(client) ?? client;
}

/** The string a model was made from, or what its client calls itself. */
export function modelLabel(model: ChatModel): string {
  return names.get(innermostModel(model)) ?? labelOf(innermostModel(model));
}

function labelOf(model: BaseChatModel): string {
  const given = givenModelName(model);
  if (given !== undefined) return given;
  const { model: id, modelName } = model as { model?: unknown; modelName?: unknown };
  const name = typeof id === "string" ? id : typeof modelName === "string" ? modelName : "";
  return [model.getName(), name].filter(Boolean).join(" ");
}

function refuseBoundTools(model: BaseChatModel): void {
  if (!RunnableBindingClass.isRunnableBinding(model)) return;
  const { bound, kwargs, config } = model as unknown as {
    bound: BaseChatModel;
    kwargs?: { tools?: unknown };
    config?: { tools?: unknown };
  };
  // Providers bind tools as call options, older ones as arguments.
  for (const tools of [kwargs?.tools, config?.tools])
    if (Array.isArray(tools) && tools.length > 0)
      throw new ConfigurationError("INVALID_OPTION", "The model already has tools bound to it.", {
        hint: "Pass the model without bindTools and the tools in the option 'tools'.",
      });
  refuseBoundTools(bound);
}

function namedModel(name: string): ModelSource {
  if (name.trim() === "")
    throw new ConfigurationError("INVALID_OPTION", "The option 'model' is an empty string.");
  let resolved: Promise<ChatModel> | undefined;
  let model: ChatModel | undefined;
  return {
    label: name,
    known: () => model,
    resolve: () => {
      resolved ??= loadModel(name).then(
        (loaded) => {
          model = loaded;
          return loaded;
        },
        (error) => {
          resolved = undefined;
          throw error;
        },
      );
      return resolved;
    },
  };
}

/** Most models that are kept. Requests may name models, so their number is limited. */
const KEPT_NAMES = 64;

/** Models by name, each made when it is first asked for; the last ones asked for are kept. */
export function namedModels(): (name: string) => ChatModel | Promise<ChatModel> {
  const sources = new Map<string, ModelSource>();
  return (name) => {
    const source = sources.get(name) ?? namedModel(name);
    sources.delete(name);
    sources.set(name, source);
    const [oldest] = sources.keys();
    if (sources.size > KEPT_NAMES && oldest !== undefined) sources.delete(oldest);
    return source.known?.() ?? source.resolve();
  };
}

async function loadModel(name: string): Promise<ChatModel> {
  const model = await loadChatModel(name);
  names.set(innermostModel(model), name);
  return model;
}

type Configurable = BaseChatModel & {
  _getModelInstance?: (run: RunConfig) => Promise<BaseChatModel>;
  /** Options that a run may set, and the prefix of their names. */
  readonly _configurableFields?: readonly string[] | "any";
  readonly _configPrefix?: string;
};

/** LangChain's configurable models stand for another one; tools are bound to the one they stand for. */
export function instanceOf(model: BaseChatModel, run?: RunConfig): ChatModel | Promise<ChatModel> {
  const configurable = model as Configurable;
  return configurable._getModelInstance?.(settingsOf(configurable, run)) ?? model;
}

/** Settings of the run for the model, and nothing else: one model is kept for each set of values. */
function settingsOf(
  { _configurableFields: fields, _configPrefix: prefix = "" }: Configurable,
  run?: RunConfig,
) {
  const isSet = (key: string): boolean =>
    key.startsWith(prefix) &&
    (fields === "any" ? !OF_ENGINE.test(key) : (fields?.includes(key.slice(prefix.length)) ?? false));
  const given = Object.entries(run?.configurable ?? {}).filter(([key]) => isSet(key));
  return { configurable: Object.fromEntries(given) };
}

const OF_ENGINE = /^(?:__|thread_id$|run_id$|checkpoint_)/;

/** The model that bindings of options stand for. */
export function innermostModel(model: ChatModel): ChatModel {
  const { bound } = model as { bound?: ChatModel };
  return bound === undefined ? model : innermostModel(bound);
}

const withHeldKeys = new WeakSet<ChatModel>();

/** A key need not be in the environment: clients are given theirs. It is held while the client is in use. */
export function holdKeys(model: ChatModel): void {
  const client = innermostModel(model);
  if (withHeldKeys.has(client)) return;
  withHeldKeys.add(client);
  holdSecrets(client, fieldSecrets(client));
}

interface Binding {
  readonly tools: readonly AnyTool[];
  readonly options: Record<string, unknown>;
  readonly bound: BoundModel;
}

export type BoundModel = Pick<ChatModel, "invoke">;

const bindings = new WeakMap<object, readonly Binding[]>();
const KEPT_BINDINGS = 8;

/** Differs from thread to thread: tools are not bound anew for it. */
const OF_THREAD = "promptCacheKey";

/** Binds tools to a model; the last few bindings are kept, since turns repeat them and agents share models. */
export function bindTools(
  model: ChatModel,
  tools: readonly AnyTool[],
  { [OF_THREAD]: key, ...options }: Readonly<Record<string, unknown>>,
): BoundModel {
  const bound = keptBinding(model, tools, options);
  return key === undefined ? bound : (bound as ChatModel).withConfig({ [OF_THREAD]: key } as never);
}

function keptBinding(
  model: ChatModel,
  tools: readonly AnyTool[],
  options: Record<string, unknown>,
): BoundModel {
  if (tools.length === 0 && Object.keys(options).length === 0) return model;
  const kept = bindings.get(model) ?? [];
  const known = kept.find((one) => sameItems(one.tools, tools) && sameEntries(one.options, options));
  if (known) return known.bound;
  const bound = newBinding(model, tools, options);
  bindings.set(model, [{ tools, options, bound }, ...kept.slice(0, KEPT_BINDINGS - 1)]);
  return bound;
}

function newBinding(
  model: ChatModel,
  tools: readonly AnyTool[],
  options: Record<string, unknown>,
): BoundModel {
  if (RunnableBindingClass.isRunnableBinding(model)) {
    const { bound, kwargs, config } = model as unknown as RunnableBinding<never, never>;
    const inner = newBinding(bound as unknown as ChatModel, tools, { ...(kwargs as object), ...options });
    return config && Object.keys(config).length > 0 ? (inner as ChatModel).withConfig(config) : inner;
  }
  if (tools.length === 0)
    return (model as unknown as { withConfig(o: object): BoundModel }).withConfig(
      strictBinding(model, { tools, options }).options,
    );
  if (typeof model.bindTools !== "function")
    throw new DeepwrightError("MODEL_NOT_AVAILABLE", `The model '${model.getName()}' cannot call tools.`, {
      hint: "Use a chat model that implements bindTools.",
    });
  const bound = strictBinding(model, { tools, options });
  return model.bindTools(bound.tools as never, bound.options as never);
}

export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, i) => item === b[i]));
}

function sameEntries(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
