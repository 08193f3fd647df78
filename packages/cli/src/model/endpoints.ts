/** Asks local servers which models they have. A server that does not answer in time is simply not there. */

export interface Endpoints {
  /** The names of Ollama's models, the best for an agent first; undefined when nothing answers in time. */
  ollama(url: string, milliseconds: number): Promise<readonly string[] | undefined>;
  /** The ids an OpenAI-compatible server lists; undefined when it does not answer or has no list. */
  openai(
    url: string,
    apiKey: string | undefined,
    milliseconds?: number,
  ): Promise<readonly string[] | undefined>;
}

/** A server the user named gets more time than one we only hope for. */
export const PATIENCE = { hoped: 300, named: 2_000 } as const;
const MAX_SHOWN = 20;

export const endpoints: Endpoints = { ollama: ollamaModels, openai: openaiModels };

/** The names as they come: nothing is asked about each of them. */
export async function ollamaNames(url: string, milliseconds: number): Promise<readonly string[] | undefined> {
  const list = (await askJson(`${url}/api/tags`, {}, milliseconds)) as { models?: unknown } | undefined;
  if (!Array.isArray(list?.models)) return undefined;
  return list.models
    .map((model: { name?: unknown }) => model?.name)
    .filter((name) => typeof name === "string");
}

async function ollamaModels(url: string, milliseconds: number): Promise<readonly string[] | undefined> {
  const names = await ollamaNames(url, milliseconds);
  if (names === undefined) return undefined;
  const able = await Promise.all(names.slice(0, MAX_SHOWN).map((name) => abilities(url, name)));
  const rank = (name: string): number => able[names.indexOf(name)] ?? RANK_UNKNOWN;
  return names.toSorted((a, b) => rank(a) - rank(b));
}

const RANK_TOOLS = 0;
const RANK_UNKNOWN = 1;
const RANK_NO_CHAT = 2;

/** Older servers do not say what a model can do. */
async function abilities(url: string, model: string): Promise<number> {
  const request = { method: "POST", body: JSON.stringify({ model }) };
  const shown = (await askJson(`${url}/api/show`, request, PATIENCE.named)) as { capabilities?: unknown };
  if (!Array.isArray(shown?.capabilities)) return RANK_UNKNOWN;
  if (shown.capabilities.includes("tools")) return RANK_TOOLS;
  return shown.capabilities.includes("completion") ? RANK_UNKNOWN : RANK_NO_CHAT;
}

async function openaiModels(
  url: string,
  apiKey: string | undefined,
  milliseconds: number = PATIENCE.named,
): Promise<readonly string[] | undefined> {
  const headers: HeadersInit = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const list = (await askJson(`${url}/models`, { headers }, milliseconds)) as { data?: unknown } | undefined;
  if (!Array.isArray(list?.data)) return undefined;
  return list.data.map((model: { id?: unknown }) => model?.id).filter((id) => typeof id === "string");
}

/** Undefined for whatever goes wrong: nobody there, too slow, not JSON, a status that says no. */
async function askJson(url: string, request: RequestInit, milliseconds: number): Promise<unknown> {
  try {
    const response = await fetch(url, {
      ...request,
      signal: AbortSignal.timeout(milliseconds),
      redirect: "error",
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
