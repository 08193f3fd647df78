/** The keys models are known by: `provider` for all of a provider, `provider:model` for one. */
import { ConfigurationError } from "../../errors.ts";
import { providerName } from "./table.ts";

export interface ModelKey {
  /** Empty if unknown. */
  readonly provider: string;
  /** Empty when all models of the provider are meant. */
  readonly model: string;
}

/** Split at the first colon: names of models may have some of their own. */
export function parseModelKey(key: string): ModelKey {
  const colon = key.indexOf(":");
  if (colon < 0) return { provider: providerName(key), model: "" };
  return { provider: providerName(key.slice(0, colon)), model: key.slice(colon + 1) };
}

/** The one spelling of a key; throws where it names nothing. */
export function checkedModelKey(key: unknown): string {
  const { provider, model } = typeof key === "string" ? parseModelKey(key) : { provider: "", model: "" };
  const isBlank = provider === "" || model !== model.trim() || (model === "" && String(key).includes(":"));
  if (isBlank)
    throw new ConfigurationError("INVALID_PROFILE", `${JSON.stringify(key)} is no key of a profile.`, {
      hint: 'A key is "provider" or "provider:model", for example "openai" or "openai:gpt-4o".',
    });
  return keyText({ provider, model });
}

export function keyText({ provider, model }: ModelKey): string {
  return model === "" ? provider : `${provider}:${model}`;
}

/** Key of a `provider:model` string, of a bare model name with a known maker, or of a chat model. */
export function modelKeyOf(model: unknown): ModelKey {
  if (typeof model !== "string") return keyOfInstance(model);
  if (model.includes(":")) return parseModelKey(model);
  const maker = MAKERS.find(([name]) => name.test(model))?.[1];
  return maker === undefined ? parseModelKey(model) : { provider: maker, model };
}

/** As `initChatModel` reads names without a provider. */
const MAKERS: readonly (readonly [name: RegExp, provider: string])[] = [
  [/^(?:gpt-|o[134](?:-|$))/, "openai"],
  [/^claude/, "anthropic"],
  [/^gemini/, "google-vertexai"],
];

interface KnownModel {
  /** The model that bound options stand for. */
  readonly bound?: KnownModel;
  readonly model?: unknown;
  readonly modelName?: unknown;
  readonly _defaultConfig?: { readonly model?: unknown; readonly modelProvider?: unknown };
  getLsParams?(options: object): { ls_provider?: unknown; ls_model_name?: unknown };
}

const instances = new WeakMap<object, ModelKey>();

const givenNames = new WeakMap<object, string>();

/** A client need not know by which name it was made: many providers share that of OpenAI. */
export function nameModel(client: object, name: string): void {
  instances.set(client, modelKeyOf(name));
  givenNames.set(client, name);
}

/** The `provider:model` string that a client was made from; undefined for clients of the caller. */
export function givenModelName(client: object): string | undefined {
  return givenNames.get(client);
}

function keyOfInstance(given: unknown): ModelKey {
  if (typeof given !== "object" || given === null) return { provider: "", model: "" };
  const known = instances.get(given);
  if (known !== undefined) return known;
  const key = readKey(innermost(given));
  instances.set(given, key);
  return key;
}

function innermost(model: KnownModel): KnownModel {
  return model.bound === undefined ? model : innermost(model.bound);
}

/** Models of `initChatModel` have the key in their settings, a provider's own class in its trace parameters. */
function readKey(model: KnownModel): ModelKey {
  const { _defaultConfig: settings } = model;
  const told = settings === undefined ? tracedNames(model) : {};
  return {
    provider: providerName(firstText(settings?.modelProvider, told.ls_provider)),
    model: firstText(settings?.model, model.model, model.modelName, told.ls_model_name),
  };
}

/** A model may not be ready to say it before its first call; then it has no name. */
function tracedNames(model: KnownModel): { ls_provider?: unknown; ls_model_name?: unknown } {
  try {
    return model.getLsParams?.({}) ?? {};
  } catch {
    return {};
  }
}

function firstText(...values: readonly unknown[]): string {
  return (values.find((value) => typeof value === "string" && value !== "") as string | undefined) ?? "";
}
