/** The providers the CLI ships, and the model each gets when nobody names one: the one place to change them. */

export interface ProviderDefaults {
  /** As written before the colon of `provider:model`. */
  readonly provider: "anthropic" | "openai" | "google";
  readonly model: string;
  /** Environment variables that may hold its key; the first that is set counts. */
  readonly keys: readonly string[];
}

/** In the order in which keys are looked for. */
export const KEYED_PROVIDERS: readonly ProviderDefaults[] = [
  { provider: "anthropic", model: "claude-sonnet-4-6", keys: ["ANTHROPIC_API_KEY"] },
  { provider: "openai", model: "gpt-5.4", keys: ["OPENAI_API_KEY"] },
  { provider: "google", model: "gemini-3.1-pro-preview", keys: ["GOOGLE_API_KEY", "GEMINI_API_KEY"] },
];

/** Where Ollama listens when `OLLAMA_HOST` says nothing. It has no default model: it is asked what it has. */
export const OLLAMA_URL = "http://127.0.0.1:11434";

/** Other spellings of the shipped providers. */
export const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  "google-genai": "google",
  google_genai: "google",
  gemini: "google",
};
