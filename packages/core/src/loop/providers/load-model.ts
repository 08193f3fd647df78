/** Makes the client of a `provider:model` string. The package of its provider is loaded here and not before. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { DeepwrightError } from "../../errors.ts";
import { withoutSecrets } from "../../secrets.ts";
import { ownValue } from "../../text/own-value.ts";
import { nameModel } from "./model-key.ts";
import { providerOptionsFor } from "./provider-options.ts";
import { MODEL_PROVIDERS, type ModelProvider, modelProvider, providerKey, providerUrl } from "./table.ts";

type Options = Readonly<Record<string, unknown>>;

/**
 * The chat model that a `provider:model` string names. `options` go to its client, over those of
 * `registerProviderProfile`. An error names the package or the variable that is missing.
 */
export async function loadChatModel(name: string, options: Options = {}): Promise<BaseChatModel> {
  const given = readOptions({ ...providerOptionsFor(name), ...options });
  const colon = name.indexOf(":");
  const provider = colon < 0 ? undefined : modelProvider(name.slice(0, colon));
  const model = provider === undefined ? name : name.slice(colon + 1).trim();
  try {
    const client = await (provider === undefined
      ? stock(name, { maxRetries: 0, ...given })
      : providedBy(provider, model, given));
    nameModel(client, name);
    return client;
  } catch (cause) {
    throw notAvailable(name, provider, cause as Error);
  }
}

/** Options by the names Python's packages have for them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  api_key: "apiKey",
  base_url: "baseUrl",
  max_retries: "maxRetries",
  max_tokens: "maxTokens",
  model_kwargs: "modelKwargs",
  reasoning_effort: "reasoningEffort",
  stop_sequences: "stopSequences",
  top_k: "topK",
  top_p: "topP",
};

function readOptions(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [ownValue(OTHER_NAMES, key) ?? key, value]),
  );
}

async function providedBy(provider: ModelProvider, model: string, options: Options): Promise<BaseChatModel> {
  const missing: Error[] = [];
  const environment = globalThis.process?.env ?? {};
  const key = options.apiKey ?? providerKey(provider, environment);
  // A package knows one variable only.
  const keyed = provider.keys.length > 1 && key !== undefined ? { ...options, apiKey: key } : options;
  for (const { name } of provider.packages)
    try {
      return await stock(model, { modelProvider: name, ...clientOptions(name, keyed) });
    } catch (error) {
      if (!isMissingPackage(error)) throw error;
      missing.push(error as Error);
    }
  const url = options.baseUrl ?? providerUrl(provider, environment);
  if (url === undefined) throw missing[0] ?? new Error("its provider has no address");
  const apiKey = key ?? (provider.isLocal ? NO_KEY : undefined);
  if (apiKey === undefined) throw new MissingKey(provider);
  return stock(model, {
    modelProvider: "openai",
    ...clientOptions("compatible", { ...options, apiKey, baseUrl: url }),
  });
}

/** OpenAI's client needs a key even if the server does not. */
const NO_KEY = "none";

class MissingKey extends Error {
  constructor({ keys }: ModelProvider) {
    super(`the variable ${keys.join(" or ")} is not set`);
  }
}

/** Clients that take `maxRetries` with each call, or are made to: see `model-client.ts`. */
const RETRIES_PER_CALL = new Set(["anthropic", "openai", "azure_openai", "google-genai", "compatible"]);

/** `baseUrl` and `reasoningEffort` as the client at hand takes them. */
function clientOptions(client: string, { baseUrl, reasoningEffort, ...options }: Options): Options {
  const isOpenai = client === "openai" && baseUrl === undefined;
  const asked = { ...(isOpenai && { useResponsesApi: true }), ...options };
  return {
    ...(!RETRIES_PER_CALL.has(client) && { maxRetries: 0 }),
    ...asked,
    ...(baseUrl !== undefined && endpointOptions(client, baseUrl, options)),
    ...(reasoningEffort !== undefined && effortOptions(client, reasoningEffort, asked)),
  };
}

function endpointOptions(client: string, baseUrl: unknown, { configuration }: Options): Options {
  if (client === "anthropic") return { anthropicApiUrl: baseUrl };
  if (client === "openai" || client === "compatible")
    return { configuration: { ...(configuration as object), baseURL: baseUrl } };
  return { baseUrl };
}

/** OpenAI's client sends `reasoning` for models it knows to reason; what is registered is meant for this model. */
function effortOptions(client: string, effort: unknown, options: Options): Options {
  if (client === "anthropic") return { outputConfig: { ...(options.outputConfig as object), effort } };
  if (client !== "openai" && client !== "compatible" && client !== "azure_openai")
    return { reasoningEffort: effort };
  const reasoning = { ...(options.reasoning as object), effort };
  const sent = options.useResponsesApi ? { reasoning } : { reasoning_effort: effort };
  return { reasoning, modelKwargs: { ...(options.modelKwargs as object), ...sent } };
}

/** LangChain returns a placeholder that loads the real model late. Loading it now shows missing packages and keys. */
async function stock(model: string, options: Options): Promise<BaseChatModel> {
  const { initChatModel } = await import("langchain/chat_models/universal");
  const made = (await initChatModel(model, options)) as unknown as BaseChatModel & {
    _getModelInstance?: () => Promise<BaseChatModel>;
  };
  return (await made._getModelInstance?.()) ?? made;
}

/** LangChain's message, or the runtime's. */
function isMissingPackage(error: unknown): boolean {
  return /^Unable to import|Cannot find (?:module|package)/.test((error as Error).message);
}

function notAvailable(name: string, provider: ModelProvider | undefined, cause: Error): DeepwrightError {
  const hint = hintFor(provider, cause);
  const reason = /^Unsupported \{ modelProvider|^Unable to infer model provider/.test(cause.message)
    ? "there is no such provider"
    : cause.message;
  return new DeepwrightError(
    "MODEL_NOT_AVAILABLE",
    `The model '${name}' cannot be used: ${withoutSecrets(reason)}`,
    { cause, ...(hint !== undefined && { hint }) },
  );
}

function hintFor(provider: ModelProvider | undefined, cause: Error): string | undefined {
  if (provider === undefined)
    return `Write provider:model; the providers are ${MODEL_PROVIDERS.map((one) => one.name).join(", ")}.`;
  const [first] = provider.packages;
  const install = `npm install ${isMissingPackage(cause) && provider.baseUrl ? "@langchain/openai" : first?.package}`;
  if (cause instanceof MissingKey) return `Set ${provider.keys[0]}.`;
  if (isMissingPackage(cause)) return `Install its provider: ${install}`;
  const isAboutKey = /api[ _-]?key|credential/i.test(cause.message);
  return isAboutKey && provider.keys.length > 0 ? `Set ${provider.keys.join(" or ")}.` : undefined;
}
