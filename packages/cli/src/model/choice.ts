/** The model of a run, and the text that says why it was chosen. */

/** A provider the CLI ships and can build itself. */
export type ShippedProvider = "anthropic" | "openai" | "google" | "ollama";

interface Reasoned {
  /** The reason at the end of the line for the user, e.g. `ANTHROPIC_API_KEY is set`. */
  readonly reason: string;
}

export interface ProviderChoice extends Reasoned {
  readonly kind: "provider";
  readonly provider: ShippedProvider;
  readonly model: string;
  /** Absent: the provider's own address. */
  readonly baseUrl?: string;
  /** Absent: the server wants none, or the user has none. */
  readonly apiKey?: string;
  /** The variable the key is in, for words about a key that was refused. */
  readonly keyName?: string;
}

/** Any other provider that the library knows. */
export interface OtherChoice extends Reasoned {
  readonly kind: "other";
  readonly provider: string;
  readonly model: string;
  /** Absent: the provider's own address. */
  readonly baseUrl?: string;
  /** The variable its key is in, or would be. */
  readonly keyName?: string;
}

export interface OfflineChoice extends Reasoned {
  readonly kind: "offline";
}

export type ModelChoice = ProviderChoice | OtherChoice | OfflineChoice;

export const OFFLINE_ROUTINE = "It is not an LLM: it follows a fixed routine with the tools.";

/** One line for the user: what runs and why. */
export function choiceLine(choice: ModelChoice): string {
  if (choice.kind === "offline") return `${choice.reason}: using the offline model. ${OFFLINE_ROUTINE}`;
  return `Model: ${choice.provider}:${choice.model} (${choice.reason})`;
}

/** `provider:model`, or `offline`. */
export function modelName(choice: ModelChoice): string {
  return choice.kind === "offline" ? "offline" : `${choice.provider}:${choice.model}`;
}
