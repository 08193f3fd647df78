/** LangChain's own clients for the providers, set to a server of this machine. */
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import type { ChatModel } from "../loop/model-source.ts";
import type { Api } from "./provider-server-read-for-tests.ts";

/** Without retries: what is refused once is seen once. */
export const MODELS: Readonly<Record<Api, (url: string) => ChatModel>> = {
  anthropic: (url) =>
    new ChatAnthropic({
      apiKey: "key",
      model: "claude-sonnet-4-5",
      anthropicApiUrl: url,
      maxRetries: 0,
    }) as unknown as ChatModel,
  chat: (url) => openai(url, false),
  responses: (url) => openai(url, true),
  gemini: (url) =>
    new ChatGoogleGenerativeAI({
      apiKey: "key",
      model: "gemini-2.5-pro",
      baseUrl: url,
      maxRetries: 0,
    }) as unknown as ChatModel,
};

function openai(url: string, useResponsesApi: boolean): ChatModel {
  return new ChatOpenAI({
    apiKey: "key",
    model: "gpt-5.4",
    configuration: { baseURL: `${url}/v1` },
    maxRetries: 0,
    useResponsesApi,
  }) as unknown as ChatModel;
}

/** As they are when nobody says how often they ask: up to seven times by themselves. */
export const EAGER_MODELS: Readonly<Record<Api, (url: string) => ChatModel>> = {
  anthropic: (url) =>
    new ChatAnthropic({
      apiKey: "key",
      model: "claude-sonnet-4-5",
      anthropicApiUrl: url,
    }) as unknown as ChatModel,
  chat: (url) => eagerOpenai(url, false),
  responses: (url) => eagerOpenai(url, true),
  gemini: (url) =>
    new ChatGoogleGenerativeAI({
      apiKey: "key",
      model: "gemini-2.5-pro",
      baseUrl: url,
    }) as unknown as ChatModel,
};

function eagerOpenai(url: string, useResponsesApi: boolean): ChatModel {
  return new ChatOpenAI({
    apiKey: "key",
    model: "gpt-5.4",
    configuration: { baseURL: `${url}/v1` },
    useResponsesApi,
  }) as unknown as ChatModel;
}

/** A client that says in its profile what the server allows. */
export function modelWithWindow(api: Api, url: string, window: number): ChatModel {
  const model = MODELS[api](url);
  const profile = { ...(model.profile as object), maxInputTokens: window };
  return Object.defineProperty(model, "profile", { value: profile });
}

export const APIS: readonly Api[] = ["anthropic", "chat", "responses", "gemini"];
