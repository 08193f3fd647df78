/**
 * Decides which model runs: `--model`, `DEEPWRIGHT_MODEL`, a server named by `--base-url` or
 * `DEEPWRIGHT_BASE_URL`, the first key found, a local endpoint, the offline model.
 */
import { MODEL_PROVIDERS, modelProvider, providerUrl } from "deepwright/providers";
import { CommandError, usageError } from "../command-error.ts";
import { KEYED_PROVIDERS, type ProviderDefaults } from "../default-models.ts";
import { ollamaUrl, parseBaseUrl, shownUrl } from "./base-url.ts";
import type { ModelChoice, ProviderChoice } from "./choice.ts";
import { type Endpoints, PATIENCE } from "./endpoints.ts";
import { type ModelName, OFFLINE, parseModelName } from "./model-name.ts";

export interface ModelWish {
  /** `--model`. */
  readonly model?: string;
  /** `--base-url`. */
  readonly baseUrl?: string;
  /** Settings, which count less than flags and variables. */
  readonly settings?: SettingsWish | undefined;
}

/** Values of settings with words for where they are written. */
export interface SettingsWish {
  readonly model?: Named<string> | undefined;
  readonly baseUrl?: Named<string> | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface Named<T> {
  readonly value: T;
  /** `--model` or the name of a variable. */
  readonly source: string;
}

export async function chooseModel(
  wish: ModelWish,
  environment: Environment,
  endpoints: Endpoints,
): Promise<ModelChoice> {
  const { settings } = wish;
  const server =
    given(wish.baseUrl, "--base-url", environment, "DEEPWRIGHT_BASE_URL", parseBaseUrl) ??
    ofSettings(settings?.baseUrl, parseBaseUrl);
  const name =
    given(wish.model, "--model", environment, "DEEPWRIGHT_MODEL", parseModelName) ??
    ofSettings(settings?.model, parseModelName);
  if (name) return named(name, server, environment, endpoints);
  if (server) return atServer(server, environment, endpoints);
  return (
    (await byKey(environment, endpoints)) ??
    (await byLocalEndpoint(environment, endpoints)) ?? { kind: "offline", reason: "No model key found" }
  );
}

function given<T>(
  option: string | undefined,
  optionName: string,
  environment: Environment,
  variable: string,
  parse: (text: string, source: string) => T,
): Named<T> | undefined {
  const text = option ?? (environment[variable] || undefined);
  if (text === undefined) return undefined;
  const source = option === undefined ? variable : optionName;
  return { value: parse(text, source), source };
}

function ofSettings<T>(
  written: Named<string> | undefined,
  parse: (text: string, source: string) => T,
): Named<T> | undefined {
  return written && { value: parse(written.value, written.source), source: written.source };
}

async function named(
  name: Named<ModelName>,
  server: Named<string> | undefined,
  environment: Environment,
  endpoints: Endpoints,
): Promise<ModelChoice> {
  const { provider, model } = name.value;
  const reason = server ? `${name.source}, at ${shownUrl(server.value)}` : name.source;
  if (provider === OFFLINE) return { kind: "offline", reason: `Asked for by ${name.source}` };
  if (provider === "ollama") return ollama(model, server?.value, reason, environment, endpoints);
  const defaults = KEYED_PROVIDERS.find((candidate) => candidate.provider === provider);
  if (defaults === undefined) return other(name, server, environment, endpoints);
  const choice = await withAddress(keyed(defaults, environment, server?.value, reason), name, endpoints);
  if (choice.apiKey === undefined && choice.baseUrl === undefined)
    throw new CommandError(`${name.source} asks for ${provider}, but ${defaults.keys[0]} is not set.`, {
      hint: `Store it with \`deepwright login ${provider}\`, set ${defaults.keys[0]}, or name a server with --base-url.`,
    });
  return { ...choice, model: model ?? defaults.model };
}

/** OpenAI's protocol at an address without a path: it gets /v1 where the server has its models there. */
async function withAddress(
  choice: ProviderChoice,
  { source }: Named<ModelName>,
  endpoints: Endpoints,
): Promise<ProviderChoice> {
  if (choice.provider !== "openai" || choice.baseUrl === undefined || !isBare(choice.baseUrl)) return choice;
  const { url } = await completedUrl(choice.baseUrl, choice.apiKey, endpoints);
  return url === choice.baseUrl
    ? choice
    : { ...choice, baseUrl: url, reason: `${source}, at ${shownUrl(url)}` };
}

/** Any provider of the library's table: through the provider's package, or at an address that speaks OpenAI's protocol. */
async function other(
  { value, source }: Named<ModelName>,
  server: Named<string> | undefined,
  environment: Environment,
  endpoints: Endpoints,
): Promise<ModelChoice> {
  const { provider } = value;
  const known = modelProvider(provider);
  if (known === undefined)
    throw usageError(
      `${source} names an unknown provider: '${provider}'.`,
      `The CLI comes with anthropic, openai, google (google-genai) and ollama, and knows ${OTHERS}.`,
    );
  const keyName = known.keys.find((key) => environment[key]) ?? known.keys[0];
  const apiKey = keyName === undefined ? undefined : environment[keyName];
  // Packages without an address of ours find their keys themselves.
  if (!apiKey && !known.isLocal && known.baseUrl !== undefined)
    throw new CommandError(`${source} asks for ${provider}, but ${keyName} is not set.`, {
      hint: `Store it with \`deepwright login ${provider}\`, or set ${keyName}.`,
    });
  const own = server?.value ?? providerUrl(known, environment);
  const isAsked = own !== undefined && (value.model === undefined || (server !== undefined && isBare(own)));
  const { url, models = [] } = isAsked ? await completedUrl(own, apiKey, endpoints) : { url: own };
  const model = value.model ?? models[0];
  if (model === undefined)
    throw new CommandError(
      `${provider} has no model to offer at ${shownUrl(url ?? "")}, or does not answer.`,
      {
        hint: `Start the server, or name a model: --model ${provider}:NAME.`,
      },
    );
  const baseUrl = server && url;
  const reason = baseUrl === undefined ? source : `${source}, at ${shownUrl(baseUrl)}`;
  return { kind: "other", provider, model, reason, baseUrl, keyName };
}

const SHIPPED = new Set(["anthropic", "openai", "google-genai", "ollama"]);
const OTHERS = MODEL_PROVIDERS.map(({ name }) => name)
  .filter((name) => !SHIPPED.has(name))
  .join(", ");

async function ollama(
  model: string | undefined,
  server: string | undefined,
  reason: string,
  environment: Environment,
  endpoints: Endpoints,
): Promise<ProviderChoice> {
  const baseUrl = server ?? ollamaUrl(environment.OLLAMA_HOST);
  const chosen = model ?? (await endpoints.ollama(baseUrl, PATIENCE.named))?.[0];
  if (chosen === undefined)
    throw new CommandError(`Ollama has no model to offer at ${shownUrl(baseUrl)}, or does not answer.`, {
      hint: "Start it with `ollama serve` and get a model with `ollama pull`, or name one: --model ollama:NAME.",
    });
  return { kind: "provider", provider: "ollama", model: chosen, baseUrl, reason };
}

/** A server the person named: its own models count. Where it lists none, no model is guessed. */
async function atServer(
  { value, source }: Named<string>,
  environment: Environment,
  endpoints: Endpoints,
): Promise<ProviderChoice> {
  const choice = keyed(OPENAI, environment, value, "");
  const { url, models } = await completedUrl(value, choice.apiKey, endpoints);
  const [first] = models ?? [];
  const reason = `${source} is ${shownUrl(url)}`;
  if (first !== undefined)
    return { ...choice, baseUrl: url, reason, model: models?.includes(choice.model) ? choice.model : first };
  const asked = isBare(value)
    ? `${shownUrl(value)}/models and ${shownUrl(value)}/v1/models`
    : `${shownUrl(value)}/models`;
  throw new CommandError(`${source} is ${shownUrl(value)}, which does not say which models it has.`, {
    hint: `Asked was ${asked}. Is the server running, and is that its address? OpenAI-compatible servers usually end in /v1. To name a model: --model openai:NAME.`,
  });
}

interface CompletedUrl {
  readonly url: string;
  /** Undefined: no list was found. */
  readonly models: readonly string[] | undefined;
}

/** An address without a path gets /v1 where the list of models is found there. */
async function completedUrl(
  url: string,
  apiKey: string | undefined,
  endpoints: Endpoints,
): Promise<CompletedUrl> {
  const models = await endpoints.openai(url, apiKey);
  if (models !== undefined || !isBare(url)) return { url, models };
  const completed = `${url}/v1`;
  const found = await endpoints.openai(completed, apiKey);
  return found === undefined ? { url, models } : { url: completed, models: found };
}

function isBare(url: string): boolean {
  return new URL(url).pathname === "/";
}

const OPENAI = KEYED_PROVIDERS.find(({ provider }) => provider === "openai") as ProviderDefaults;

/** A server that speaks OpenAI's chat completions. Only OpenAI's key is ever sent to it. */
async function compatible(
  baseUrl: string,
  source: string,
  environment: Environment,
  endpoints: Endpoints,
): Promise<ProviderChoice> {
  const choice = keyed(OPENAI, environment, baseUrl, "");
  const { url, models } = await completedUrl(baseUrl, choice.apiKey, endpoints);
  const reason = `${source} is ${shownUrl(url)}`;
  const model = models === undefined || models.includes(OPENAI.model) ? OPENAI.model : models[0];
  return { ...choice, baseUrl: url, reason, model: model ?? OPENAI.model };
}

async function byKey(environment: Environment, endpoints: Endpoints): Promise<ModelChoice | undefined> {
  for (const defaults of KEYED_PROVIDERS) {
    const choice = keyed(defaults, environment, undefined, "");
    if (choice.apiKey === undefined) continue;
    const reason = `${choice.keyName} is set`;
    if (choice.provider === "openai" && choice.baseUrl !== undefined)
      return compatible(choice.baseUrl, `${reason}, OPENAI_BASE_URL`, environment, endpoints);
    return { ...choice, reason };
  }
  return undefined;
}

async function byLocalEndpoint(
  environment: Environment,
  endpoints: Endpoints,
): Promise<ModelChoice | undefined> {
  const url = ollamaUrl(environment.OLLAMA_HOST);
  const patience = environment.OLLAMA_HOST ? PATIENCE.named : PATIENCE.hoped;
  const model = (await endpoints.ollama(url, patience))?.[0];
  if (model !== undefined)
    return {
      kind: "provider",
      provider: "ollama",
      model,
      baseUrl: url,
      reason: `Ollama answers at ${shownUrl(url)}`,
    };
  const server = environment.OPENAI_BASE_URL;
  if (!server) return undefined;
  return compatible(
    parseBaseUrl(server, "OPENAI_BASE_URL"),
    "no key found, OPENAI_BASE_URL",
    environment,
    endpoints,
  );
}

/** The provider with its default model, its key and its address as far as the environment has them. */
function keyed(
  defaults: ProviderDefaults,
  environment: Environment,
  server: string | undefined,
  reason: string,
): ProviderChoice {
  const keyName = defaults.keys.find((name) => environment[name]) ?? defaults.keys[0];
  const apiKey = environment[keyName as string] || undefined;
  const baseUrl = server ?? ownAddress(defaults.provider, environment);
  const { provider, model } = defaults;
  return { kind: "provider", provider, model, baseUrl, apiKey, keyName, reason };
}

/** The variables the providers' own libraries read. OpenAI's own address is no special server. */
function ownAddress(provider: string, environment: Environment): string | undefined {
  const variable = { anthropic: "ANTHROPIC_BASE_URL", openai: "OPENAI_BASE_URL" }[provider];
  const text = variable && environment[variable];
  if (!variable || !text) return undefined;
  const url = parseBaseUrl(text, variable);
  return new URL(url).hostname === "api.openai.com" ? undefined : url;
}
