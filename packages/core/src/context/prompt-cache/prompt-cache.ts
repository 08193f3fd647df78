/** Fields of a request that make its provider keep the beginning for the next one. */
import type { TaskConfig } from "../../engine/engine.ts";
import type { Outgoing } from "../../loop/contract/stages.ts";
import { type ChatModel, innermostModel } from "../../loop/providers/model-source.ts";
import { type CacheTtl, isAnthropicClient, ownMarkers } from "./prompt-cache-blocks.ts";
import { withBreakpoints } from "./prompt-cache-breakpoints.ts";
import { cacheKey, hasOwnKey, isOpenAi, isOpenAiClient } from "./prompt-cache-key.ts";

export interface PromptCacheSettings {
  readonly ttl: CacheTtl;
  readonly anthropic: boolean;
  readonly bedrock: boolean;
  /** Absent: for OpenAI and Azure only. */
  readonly promptCacheKey: boolean | undefined;
}

/** The same request if the provider caches by itself, is not known, or caching is turned off. */
export async function withCacheHints(
  outgoing: Outgoing,
  settings: PromptCacheSettings,
  config: TaskConfig,
): Promise<Outgoing> {
  const client = innermostModel(outgoing.model);
  if (isAnthropicClient(client))
    return settings.anthropic ? withBreakpoints(outgoing, client, settings.ttl) : outgoing;
  if (isCachingBedrock(client)) return settings.bedrock ? withCachePoints(outgoing, settings.ttl) : outgoing;
  if (settings.promptCacheKey === false || !isOpenAiClient(client) || hasOwnKey(client)) return outgoing;
  return settings.promptCacheKey || isOpenAi(client) ? withCacheKey(outgoing, config) : outgoing;
}

const CACHING_MODELS = /anthropic\.claude|amazon\.nova/i;

/** The other models on Bedrock refuse cache points. */
function isCachingBedrock(model: ChatModel): boolean {
  const { model: id } = model as { model?: unknown };
  return model.getName() === "ChatBedrockConverse" && CACHING_MODELS.test(String(id));
}

/** The same objects each time, because bindings to a model are compared by identity. */
const LASTING = { "5m": { type: "ephemeral", ttl: "5m" }, "1h": { type: "ephemeral", ttl: "1h" } } as const;

/** LangChain's client for Bedrock sets up to three cache points itself when a lifetime is given. */
function withCachePoints(outgoing: Outgoing, ttl: CacheTtl): Outgoing {
  if (outgoing.settings.cache_control !== undefined || hasCachePoints(outgoing)) return outgoing;
  return { ...outgoing, settings: { ...outgoing.settings, cache_control: LASTING[ttl] } };
}

/** Other code has placed cache points; more of them might be too many for the request. */
function hasCachePoints({ messages }: Outgoing): boolean {
  return messages.some(
    (message) =>
      typeof message.content !== "string" &&
      (ownMarkers(message).length > 0 || message.content.some((block) => "cachePoint" in block)),
  );
}

async function withCacheKey(outgoing: Outgoing, config: TaskConfig): Promise<Outgoing> {
  const thread = config.configurable?.thread_id;
  if (thread === undefined || outgoing.settings.promptCacheKey !== undefined) return outgoing;
  const promptCacheKey = await cacheKey(String(thread), String(config.metadata?.lc_agent_name ?? ""));
  return promptCacheKey === undefined
    ? outgoing
    : { ...outgoing, settings: { ...outgoing.settings, promptCacheKey } };
}
