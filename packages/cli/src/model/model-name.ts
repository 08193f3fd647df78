/** `provider:model` as a user writes it. */
import { MODEL_PROVIDERS } from "deepwright/providers";
import { usageError } from "../command-error.ts";
import { KEYED_PROVIDERS, shownProvider } from "../default-models.ts";

export interface ModelName {
  readonly provider: string;
  /** Absent: the provider alone was named, its default is meant. */
  readonly model?: string;
}

export const OFFLINE = "offline";

/** Servers on this machine mean the first of their models. */
const LOCAL = MODEL_PROVIDERS.filter(({ isLocal }) => isLocal).map(({ name }) => name);
const ALONE = new Set([...KEYED_PROVIDERS.map(({ provider }) => provider as string), ...LOCAL, OFFLINE]);

/** Splits at the first colon, so `ollama:qwen3:8b` is a model of Ollama. `source` is where it was written. */
export function parseModelName(text: string, source: string): ModelName {
  const [, head = "", colon, tail = ""] = /^([^:]*)(:?)(.*)$/su.exec(text.trim()) ?? [];
  const provider = shownProvider(head);
  const model = tail.trim();
  if (colon === "" && ALONE.has(provider)) return { provider };
  if (provider === "" || model === "" || provider === OFFLINE)
    throw usageError(
      `${source} must be provider:model, but it is '${text}'.`,
      "For example anthropic:claude-sonnet-4-6, openai:gpt-5.4, google:gemini-3.1-pro-preview, ollama:qwen3 or offline.",
    );
  return { provider, model };
}
