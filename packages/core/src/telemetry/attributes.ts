/** Attributes of spans by the semantic conventions for generative AI. No content. */
import type { AIMessage } from "@langchain/core/messages";
import type { Attributes } from "@opentelemetry/api";
import { usageOfReply } from "../budget/usage.ts";
import { DeepwrightError } from "../errors.ts";
import { TimedOut } from "../loop/calls/limits.ts";
import { stopReason } from "../loop/messages/outcome.ts";
import { modelKeyOf } from "../loop/providers/model-key.ts";
import { type ChatModel, innermostModel } from "../loop/providers/model-source.ts";
import { ownValue } from "../text/own-value.ts";

/** Names of the conventions, by the names of `initChatModel`. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "azure-openai": "azure.ai.openai",
  bedrock: "aws.bedrock",
  "google-genai": "gcp.gemini",
  "google-vertexai": "gcp.vertex_ai",
  "google-vertexai-web": "gcp.vertex_ai",
  mistralai: "mistral_ai",
  xai: "x_ai",
  watsonx: "ibm.watsonx.ai",
};

export interface ModelNames {
  readonly provider: string;
  readonly model: string;
}

export function modelNames(model: unknown): ModelNames {
  const { provider, model: name } = modelKeyOf(model);
  return { provider: ownValue(PROVIDERS, provider) ?? provider, model: name };
}

/** Absent and empty values are left out. */
export function present(values: Readonly<Record<string, unknown>>): Attributes {
  const isThere = ([, value]: [string, unknown]): boolean => value != null && value !== "";
  return Object.fromEntries(Object.entries(values).filter(isThere)) as Attributes;
}

/** Each attribute, and the fields clients have for it. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  "gen_ai.request.max_tokens": ["maxTokens", "maxOutputTokens", "maxCompletionTokens", "numPredict"],
  "gen_ai.request.temperature": ["temperature"],
  "gen_ai.request.top_p": ["topP"],
  "gen_ai.request.top_k": ["topK"],
};

export function requestAttributes(model: unknown): Attributes {
  const names = modelNames(model);
  const client = innermostModel(model as ChatModel) as unknown as Readonly<Record<string, unknown>>;
  const settings = Object.entries(SETTINGS).map(([attribute, fields]) => {
    const values = fields.map((field) => client[field]);
    return [attribute, values.find((value) => typeof value === "number" && value >= 0)];
  });
  return { ...chatAttributes(names), ...present(Object.fromEntries(settings)) };
}

export function chatAttributes({ provider, model }: ModelNames): Attributes {
  return present({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
  });
}

export function replyAttributes(reply: AIMessage): Attributes {
  const { id, model_name, model, modelVersion } = (reply.response_metadata ?? {}) as Record<string, unknown>;
  const reason = stopReason(reply);
  return present({
    "gen_ai.response.id": [id, reply.id].find(isText),
    "gen_ai.response.model": [model_name, model, modelVersion].find(isText),
    "gen_ai.response.finish_reasons": reason === undefined ? undefined : [reason],
    ...usageAttributes(reply),
  });
}

/** Usage that a provider does not report is not estimated here. */
function usageAttributes(reply: AIMessage): Readonly<Record<string, unknown>> {
  if (reply.usage_metadata == null) return {};
  const usage = usageOfReply(reply, undefined, 0);
  if (usage.estimatedCalls > 0) return {};
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens || undefined,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Words a program could have written: whatever else is in such a field is content. */
const TYPE = /^[A-Za-z][\w.-]{0,63}$/;

export const TIMEOUT = "timeout";

/** A code if there is one, else the status of the answer, else the name of the error. */
export function errorType(error: unknown): string {
  if (error instanceof DeepwrightError) return error.code;
  if (error instanceof TimedOut) return TIMEOUT;
  const { code, status, name } = (error ?? {}) as { code?: unknown; status?: unknown; name?: unknown };
  if (name === "TimeoutError") return TIMEOUT;
  if (typeof status === "number" && Number.isInteger(status)) return String(status);
  return [code, name].find((word): word is string => typeof word === "string" && TYPE.test(word)) ?? "_OTHER";
}
