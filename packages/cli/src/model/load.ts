/** Makes the chosen model. A provider's package is loaded here and not before. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { CommandError } from "../command-error.ts";
import { shownUrl } from "./base-url.ts";
import type { ModelChoice, OtherChoice, ProviderChoice } from "./choice.ts";

/** A server on this machine answers or is down, one the user named may be misspelt, a provider's own is worth patience. */
const RETRIES = { near: 1, named: 2, own: 4 };
/** Libraries insist on a key even when the server wants none. */
const NO_KEY = "none";

export async function loadModel(choice: ModelChoice): Promise<BaseChatModel> {
  if (choice.kind === "offline") {
    const { OfflineModel } = await import("../offline-model.ts");
    return new OfflineModel();
  }
  if (choice.kind === "other") return loadOther(choice);
  switch (choice.provider) {
    case "anthropic":
      return loadAnthropic(choice);
    case "openai":
      return loadOpenAI(choice);
    case "google":
      return loadGoogle(choice);
    case "ollama":
      return loadOllama(choice);
  }
}

async function loadAnthropic(choice: ProviderChoice): Promise<BaseChatModel> {
  const { ChatAnthropic } = await orInstallLine("@langchain/anthropic", () => import("@langchain/anthropic"));
  return new ChatAnthropic({
    model: choice.model,
    apiKey: choice.apiKey ?? NO_KEY,
    maxRetries: retries(choice),
    ...(choice.baseUrl === undefined ? {} : { anthropicApiUrl: choice.baseUrl }),
  }) as unknown as BaseChatModel;
}

/** OpenAI itself is asked through its Responses interface, other servers through chat completions. */
async function loadOpenAI(choice: ProviderChoice): Promise<BaseChatModel> {
  const { ChatOpenAI } = await orInstallLine("@langchain/openai", () => import("@langchain/openai"));
  return new ChatOpenAI({
    model: choice.model,
    apiKey: choice.apiKey ?? NO_KEY,
    maxRetries: retries(choice),
    ...(choice.baseUrl === undefined
      ? { useResponsesApi: true }
      : { configuration: { baseURL: choice.baseUrl } }),
  }) as unknown as BaseChatModel;
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

/** Whatever else LangChain knows, when its package is installed. */
async function loadOther(choice: OtherChoice): Promise<BaseChatModel> {
  try {
    const { initChatModel } = await import("langchain/chat_models/universal");
    const model = await initChatModel(`${choice.provider}:${choice.model}`);
    return await standIn(model as unknown as BaseChatModel);
  } catch (cause) {
    const { message } = cause as Error;
    const missing = MISSING_PACKAGE.exec(message)?.[1];
    if (missing === undefined)
      throw new CommandError(`The provider '${choice.provider}' cannot be used: ${message}`, { cause });
    throw new CommandError(
      `The provider '${choice.provider}' needs a package that does not come with the CLI.`,
      {
        cause,
        hint: `Install it: npm install ${missing}`,
      },
    );
  }
}

/** LangChain's words, which name the package it looked for. */
const MISSING_PACKAGE = /^Unable to import (\S+)\. Please install/;

/** LangChain hands out a stand-in that loads the real model late; loading it now tells what is missing. */
async function standIn(model: BaseChatModel): Promise<BaseChatModel> {
  const real = model as BaseChatModel & { _getModelInstance?: () => Promise<BaseChatModel> };
  return (await real._getModelInstance?.()) ?? model;
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
