/** The chat model of an app, made from its user's settings. */

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { ConfigurationError, DeepwrightError, loadChatModel } from "deepwright";
import { checkNames } from "deepwright/check-options";
import { withoutSecrets } from "deepwright/secrets";

/** null means absent. */
export interface LlmSettings {
  /** As in `provider:model`: `anthropic`, `openai`, `google-genai`, `ollama`, `openrouter` and the others of the table in docs/models.md. */
  readonly provider: string;
  readonly model: string;
  /** Absent: the provider's own variable of the environment. */
  readonly apiKey?: string | null;
  /** Address of a server that speaks the provider's protocol. Absent: the provider's own. */
  readonly baseUrl?: string | null;
  readonly temperature?: number | null;
  /** Most tokens of one reply. */
  readonly maxTokens?: number | null;
}

const NAMES: readonly (keyof LlmSettings)[] = [
  ...(["provider", "model", "apiKey", "baseUrl", "temperature", "maxTokens"] as const),
];

/** Settings registered by `registerProviderProfile` apply too; those given here win. */
export async function buildLlm(settings: LlmSettings): Promise<BaseChatModel> {
  const { provider, model } = checked(settings);
  const name = `${provider}:${model}`;
  try {
    return await loadChatModel(name, clientOptions(settings));
  } catch (cause) {
    const message = withoutKey(withoutSecrets((cause as Error).message), settings.apiKey);
    throw new DeepwrightError("MODEL_NOT_AVAILABLE", message);
  }
}

function clientOptions({ apiKey, baseUrl, temperature, maxTokens }: LlmSettings): Record<string, unknown> {
  return {
    ...(apiKey != null && { apiKey }),
    ...(temperature != null && { temperature }),
    ...(maxTokens != null && { maxTokens }),
    ...(baseUrl != null && { baseUrl }),
  };
}

function checked(settings: LlmSettings): LlmSettings {
  if (typeof settings !== "object" || settings === null)
    throw new ConfigurationError("INVALID_OPTION", "buildLlm takes one object of settings.");
  checkNames("buildLlm", settings, NAMES);
  for (const key of ["provider", "model"] as const)
    if (typeof settings[key] !== "string" || settings[key].trim() === "")
      throw new ConfigurationError("INVALID_OPTION", `buildLlm needs the setting '${key}'.`);
  const { baseUrl } = settings;
  if (baseUrl != null && !(/^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl)))
    throw new ConfigurationError("INVALID_OPTION", "The setting 'baseUrl' must be an http or https address.");
  return settings;
}

function withoutKey(text: string, apiKey: string | null | undefined): string {
  return apiKey ? text.replaceAll(apiKey, "[apiKey]") : text;
}
