/** The providers the CLI ships, and the model each gets when nobody names one: the one place to change them. */
import { modelProvider, providerName } from "deepwright/providers";

export interface ProviderDefaults {
  /** As written before the colon of `provider:model`. */
  readonly provider: "anthropic" | "openai" | "google";
  readonly model: string;
  /** Environment variables that may hold its key; the first that is set counts. */
  readonly keys: readonly string[];
}

/** In the order in which keys are looked for. Models with a known price, so that `--max-cost` works with each. */
export const KEYED_PROVIDERS: readonly ProviderDefaults[] = [
  keyed("anthropic", "claude-sonnet-4-6"),
  keyed("openai", "gpt-5.2"),
  keyed("google", "gemini-3.1-pro-preview"),
];

function keyed(provider: ProviderDefaults["provider"], model: string): ProviderDefaults {
  return { provider, model, keys: modelProvider(provider)?.keys ?? [] };
}

/** Where Ollama listens when `OLLAMA_HOST` says nothing. It has no default model: it is asked what it has. */
export const OLLAMA_URL = "http://127.0.0.1:11434";

/** As the library's table spells it; Gemini has a shorter name here. */
export function shownProvider(written: string): string {
  const name = providerName(written);
  return name === "google-genai" ? "google" : name;
}
