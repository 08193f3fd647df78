/** OpenAI's caches are filled by themselves; a key brings the requests of a thread to the same one. */
import type { ChatModel } from "../../loop/providers/model-source.ts";

/** Fields of LangChain's client for OpenAI that tell where requests go. */
interface OpenAiClient {
  readonly promptCacheKey?: unknown;
  readonly clientConfig?: { readonly baseURL?: unknown };
}

/** Also a client for a server that merely speaks OpenAI's language. */
export function isOpenAiClient(model: ChatModel): boolean {
  return "promptCacheKey" in model && "clientConfig" in model;
}

export function hasOwnKey(model: ChatModel): boolean {
  return (model as OpenAiClient).promptCacheKey !== undefined;
}

const HOSTS = [".openai.com", ".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];

/** Whether requests go to OpenAI or Azure: other servers may refuse fields they do not know. */
export function isOpenAi(model: ChatModel): boolean {
  const { baseURL } = (model as OpenAiClient).clientConfig ?? {};
  if (typeof baseURL !== "string" || baseURL === "") return true;
  const host = URL.canParse(baseURL) ? new URL(baseURL).hostname : "";
  return HOSTS.some((known) => host.endsWith(known));
}

const KEY_BYTES = 16;

/**
 * The same for a thread and an agent in every process; it reveals neither. Undefined where the platform has no digest
 * (a page that was not loaded securely).
 */
export async function cacheKey(thread: string, agent: string): Promise<string | undefined> {
  const { subtle } = globalThis.crypto;
  if (subtle === undefined) return undefined;
  const bytes = new TextEncoder().encode(JSON.stringify([thread, agent]));
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes)).subarray(0, KEY_BYTES);
  return `deepwright-${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
