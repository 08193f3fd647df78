/** Makes providers cache the start of a request, so that a turn pays only for its new part. */
import type { AgentMiddleware } from "langchain";
import { checkKind, checkNames } from "../check-options.ts";
import { type PromptCacheSettings, withCacheHints } from "../context/prompt-cache/prompt-cache.ts";
import type { CacheTtl } from "../context/prompt-cache/prompt-cache-blocks.ts";
import { ConfigurationError } from "../errors.ts";
import type { Stages, WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";

/** null means absent. */
export interface PromptCachingMiddlewareOptions {
  /** How long Anthropic and Bedrock keep marked content; default "5m". An hour costs more to write. */
  readonly ttl?: CacheTtl | null;
  /** Marks for Anthropic's API; default true. Turn it off for a proxy that refuses `cache_control`. */
  readonly anthropic?: boolean | null;
  /** Cache points for Claude and Nova on Bedrock; default true. */
  readonly bedrock?: boolean | null;
  /**
   * A key for the caches of OpenAI and Azure, made from the thread and the name of the agent. True: also for
   * servers that merely speak OpenAI's language; false: for none.
   */
  readonly promptCacheKey?: boolean | null;
}

export type PromptCachingMiddleware = AgentMiddleware & WithStages;

/** Requests to providers that cache by themselves, and to unknown ones, stay as they are. */
export function createPromptCachingMiddleware(
  given?: PromptCachingMiddlewareOptions | null,
): PromptCachingMiddleware {
  const options = given ?? {};
  checkOptions(options);
  const settings: PromptCacheSettings = {
    ttl: options.ttl ?? "5m",
    anthropic: options.anthropic ?? true,
    bedrock: options.bedrock ?? true,
    promptCacheKey: options.promptCacheKey ?? undefined,
  };
  const stages: Stages = {
    outgoing: (outgoing, task) => withCacheHints(outgoing, settings, task.config),
  };
  return builtInMiddleware({ name: "PromptCachingMiddleware", stages });
}

const OPTION_NAMES = ["ttl", "anthropic", "bedrock", "promptCacheKey"];

function checkOptions(options: PromptCachingMiddlewareOptions): void {
  checkNames("createPromptCachingMiddleware", options, OPTION_NAMES);
  const { ttl, anthropic, bedrock, promptCacheKey } = options;
  checkKind("boolean", { anthropic, bedrock, promptCacheKey });
  if (ttl != null && ttl !== "5m" && ttl !== "1h")
    throw new ConfigurationError(
      "INVALID_OPTION",
      `The option 'ttl' must be "5m" or "1h", not ${String(ttl)}.`,
    );
}
