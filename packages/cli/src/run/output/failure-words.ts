/** Error messages of a run for the person at the terminal: the reason and a hint, without secrets. */
import { withoutSecrets } from "deepwright/secrets";
import { CommandError } from "../../command-error.ts";
import { KEYED_PROVIDERS } from "../../default-models.ts";
import type { ModelChoice } from "../../model/choice.ts";
import { safeLine } from "../../terminal/safe-text.ts";

const MAX_LENGTH = 600;

/** `choice` is absent when no model was chosen yet. */
export function failureWords(
  error: unknown,
  choice: ModelChoice | undefined,
  environment: NodeJS.ProcessEnv,
): string {
  const message = safeLine(withoutSecrets(reasonOf(error), environment), MAX_LENGTH);
  const hint = hintFor(error, choice);
  return hint === undefined ? message : `${message.replace(/[.\s]*$/, ".")} ${hint}`;
}

/** Hint for a thread that another run uses. */
export const BUSY_HINT = "Wait for it to end, or start a new thread by leaving out --thread.";

/** Hints for the person at the terminal; the library's own hints are for programs. */
const LIBRARY_HINTS: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    THREAD_BUSY: BUSY_HINT,
    CLAIM_LOST: "The work of this run is stored; continue with --thread.",
    PRICE_UNKNOWN: "Limit it with --max-tokens or --max-steps in place of --max-cost.",
    NOTHING_TO_RESUME: "Somebody else has answered, or given the thread another task.",
    INVALID_RESUME: "Somebody else has answered; look at the thread again with --thread.",
  }),
);

function reasonOf(error: unknown): string {
  const { code, hint, message } = (error ?? {}) as { code?: unknown; hint?: unknown; message?: unknown };
  if (typeof hint === "string" && typeof message === "string" && LIBRARY_HINTS.has(code))
    return message.replace(hint, "").trim();
  const status = statusOf(error);
  const words = error instanceof Error ? error.message || error.name : String(error);
  const cause = connectionCause(error);
  if (cause !== undefined) return `the model's server cannot be reached (${cause})`;
  if (status === undefined) return words;
  const meaning =
    STATUS_WORDS[status] ?? (status >= 500 ? "the provider has a problem" : "the provider refused");
  return `${meaning} (HTTP ${status}): ${providerWords(error) ?? words}`;
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  401: "the provider refused the key",
  402: "the provider requires payment",
  403: "the provider refused the key",
  404: "the provider does not know this model or address",
  408: "the provider took too long",
  413: "the request is too large",
  429: "too many requests, or no quota left",
};

function hintFor(error: unknown, choice: ModelChoice | undefined): string | undefined {
  if (error instanceof CommandError) return error.hint;
  const { code } = (error ?? {}) as { code?: unknown };
  const told = LIBRARY_HINTS.get(code);
  if (told !== undefined) return code === "PRICE_UNKNOWN" ? `${told}${pricedModel(choice)}` : told;
  const key = choice === undefined || choice.kind === "offline" ? undefined : choice.keyName;
  switch (statusOf(error)) {
    case 401:
    case 403:
      return `Check ${key ?? "the key"}.`;
    case 404:
      return "Check --model and --base-url.";
    case 429:
      return "Try again later, or choose another model with --model.";
    default:
      return connectionCause(error) === undefined ? undefined : "Is it running? Check --base-url.";
  }
}

/** Names the default model of the provider, whose price is known; empty for a server of the person's own. */
function pricedModel(choice: ModelChoice | undefined): string {
  if (choice === undefined || choice.kind === "offline" || choice.baseUrl !== undefined) return "";
  const known = KEYED_PROVIDERS.find(({ provider }) => provider === choice.provider);
  return known ? ` The price of ${known.provider}:${known.model} is known.` : "";
}

/** The HTTP status wherever the libraries put it. */
export function statusOf(error: unknown): number | undefined {
  for (const item of chain(error)) {
    const { status, statusCode, status_code } = item as Record<string, unknown>;
    const found = [status, statusCode, status_code].find((value) => typeof value === "number");
    if (found !== undefined) return found as number;
  }
  return undefined;
}

/** The message inside the provider's answer, where the library only hands on its JSON. */
function providerWords(error: unknown): string | undefined {
  for (const item of chain(error)) {
    const body = (item as { error?: unknown }).error as Record<string, unknown> | undefined;
    const inner = (body?.error ?? body) as { message?: unknown } | undefined;
    if (typeof inner?.message === "string") return inner.message;
  }
  return undefined;
}

function connectionCause(error: unknown): string | undefined {
  for (const item of chain(error)) {
    const { code } = item as { code?: unknown };
    if (typeof code === "string" && /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|UND_ERR)/.test(code))
      return code;
  }
  if (!chain(error).some(isConnectionError)) return undefined;
  const innermost = chain(error).at(-1) as { message?: unknown };
  return /fetch failed$/.test(String(innermost.message)) ? "fetch failed" : String(innermost.message);
}

/**
 * Libraries that hide the code of a failure: OpenAI's and Anthropic's are recognised by their class, others by the
 * message of fetch.
 */
function isConnectionError(item: object): boolean {
  const { message } = item as { message?: unknown };
  if (item.constructor?.name === "APIConnectionError") return true;
  return typeof message === "string" && /(^|: )fetch failed$/.test(message);
}

/** The error and its causes. */
function chain(error: unknown): readonly object[] {
  const found: object[] = [];
  for (let item = error; typeof item === "object" && item !== null && found.length < 8; ) {
    found.push(item);
    item = (item as { cause?: unknown }).cause;
  }
  return found;
}
