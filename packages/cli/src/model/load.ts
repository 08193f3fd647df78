/** Makes the chosen model. A provider's package is loaded here and not before. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { CommandError } from "../command-error.ts";
import { shownUrl } from "./base-url.ts";
import type { ModelChoice, OtherChoice, ProviderChoice } from "./choice.ts";
import type { Effort } from "./effort.ts";

/** A server on this machine answers or is down, one the user named may be misspelt, a provider's own is worth patience. */
const RETRIES = { near: 1, named: 2, own: 4 };
/** Libraries insist on a key even when the server wants none. */
const NO_KEY = "none";

/** `effort` is for models that `takesEffort`. */
export async function loadModel(choice: ModelChoice, effort?: Effort): Promise<BaseChatModel> {
  if (choice.kind === "offline") {
    const { OfflineModel } = await import("../offline-model.ts");
    return new OfflineModel();
  }
  if (choice.kind === "other") return loadOther(choice);
  switch (choice.provider) {
    case "anthropic":
      return loadAnthropic(choice, effort);
    case "openai":
      return loadOpenAI(choice, effort);
    case "google":
      return loadGoogle(choice);
    case "ollama":
      return loadOllama(choice);
  }
}

async function loadAnthropic(choice: ProviderChoice, effort?: Effort): Promise<BaseChatModel> {
  const { ChatAnthropic } = await orInstallLine("@langchain/anthropic", () => import("@langchain/anthropic"));
  return new ChatAnthropic({
    model: choice.model,
    apiKey: choice.apiKey ?? NO_KEY,
    maxRetries: retries(choice),
    ...(choice.baseUrl === undefined ? {} : { anthropicApiUrl: choice.baseUrl }),
    ...(effort && { outputConfig: { effort } }),
  }) as unknown as BaseChatModel;
}

/** OpenAI itself is asked through its Responses interface, other servers through chat completions. */
async function loadOpenAI(choice: ProviderChoice, effort?: Effort): Promise<BaseChatModel> {
  const { ChatOpenAI } = await orInstallLine("@langchain/openai", () => import("@langchain/openai"));
  return new ChatOpenAI({
    model: choice.model,
    apiKey: choice.apiKey ?? NO_KEY,
    maxRetries: retries(choice),
    ...(choice.baseUrl === undefined
      ? { useResponsesApi: true }
      : { configuration: { baseURL: choice.baseUrl } }),
    ...(effort && openaiEffort(choice, effort)),
  }) as unknown as BaseChatModel;
}

/** The client sends `reasoning` for models it knows; the effort is meant for this model. */
function openaiEffort({ baseUrl }: ProviderChoice, effort: Effort): object {
  const reasoning = { effort };
  return { reasoning, modelKwargs: baseUrl === undefined ? { reasoning } : { reasoning_effort: effort } };
}

async function loadGoogle(choice: ProviderChoice): Promise<BaseChatModel> {
  const { ChatGoogleGenerativeAI } = await orInstallLine(
    "@langchain/google-genai",
    () => import("@langchain/google-genai"),
  );
  return new ChatGoogleGenerativeAI({
    model: choice.model,
    apiKey: choice.apiKey ?? NO_KEY,
    maxRetries: retries(choice),
    ...(choice.baseUrl === undefined ? {} : { baseUrl: choice.baseUrl }),
  }) as unknown as BaseChatModel;
}

async function loadOllama(choice: ProviderChoice): Promise<BaseChatModel> {
  const { ChatOllama } = await orInstallLine("@langchain/ollama", () => import("@langchain/ollama"));
  return new ChatOllama({ model: choice.model, baseUrl: choice.baseUrl }) as unknown as BaseChatModel;
}

/** Loads any other provider that the library knows. Its error names the package or the variable that is missing. */
async function loadOther({ provider, model, baseUrl }: OtherChoice): Promise<BaseChatModel> {
  const { DeepwrightError, loadChatModel } = await import("deepwright");
  try {
    return await loadChatModel(`${provider}:${model}`, baseUrl === undefined ? {} : { baseUrl });
  } catch (cause) {
    if (!(cause instanceof DeepwrightError)) throw cause;
    throw new CommandError(cause.message, { cause });
  }
}

async function orInstallLine<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new CommandError(`The package ${name} is missing.`, { cause, hint: `npm install ${name}` });
  }
}

function retries({ baseUrl }: ProviderChoice): number {
  if (baseUrl === undefined) return RETRIES.own;
  return isNear(baseUrl) ? RETRIES.near : RETRIES.named;
}

function isNear(url: string): boolean {
  return /^(localhost|127\.|\[::1\])/.test(new URL(shownUrl(url)).host);
}
