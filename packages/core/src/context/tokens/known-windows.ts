/** How many tokens a request to a model may have. */
import { type ChatModel, innermostModel } from "../../loop/providers/model-source.ts";

/** Input windows by model name, for models whose package does not know them. The first match counts. */
const KNOWN_WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/claude.*\[1m\]/, 1_000_000],
  [/claude-(?:2\.0|instant)/, 100_000],
  [/claude/, 200_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-5.*chat/, 128_000],
  [/gpt-5/, 272_000],
  [/gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-(?:1106|0125)|gpt-4\.5/, 128_000],
  [/gpt-4-32k/, 32_768],
  [/gpt-4(?:-\d{4})?$/, 8192],
  [/gpt-3\.5/, 16_385],
  [/gpt-oss/, 131_072],
  [/(?:^|[/:])o1-(?:mini|preview)/, 128_000],
  [/(?:^|[/:])o[134](?:-|$)/, 200_000],
  [/gemini-1\.5-pro/, 2_097_152],
  [/gemini-1\.0|gemini-pro$/, 30_720],
  [/gemini/, 1_048_576],
  [/glm-(?:4\.6|4\.7|5)/, 200_000],
  [/glm-4/, 128_000],
  [/kimi-k2/, 256_000],
  [/deepseek/, 128_000],
  [/grok-4-fast|grok-4\.1/, 2_000_000],
  [/grok-(?:4|code)/, 256_000],
  [/qwen3-(?:coder|next|max)/, 256_000],
  [/minimax-m2/, 200_000],
  [/command-a/, 256_000],
  [/llama-?3\.[123]|mistral-(?:large|medium|small)|devstral|codestral|grok-[23]|command-r/, 128_000],
];

interface DescribedModel {
  readonly bound?: ChatModel;
  readonly profile?: { readonly maxInputTokens?: unknown };
  readonly model?: unknown;
  readonly modelName?: unknown;
  /** Ollama: the window that the server was configured with. It cuts off the rest silently. */
  readonly numCtx?: unknown;
}

/** As its provider calls it; empty when the model has no name. */
export function modelName(model: ChatModel): string {
  const { model: name, modelName: other } = innermostModel(model) as DescribedModel;
  return typeof name === "string" ? name : typeof other === "string" ? other : "";
}

/** Taken from the model's own profile, else from its name; undefined when both are unknown. */
export function windowOf(model: ChatModel): number | undefined {
  const { profile, numCtx } = innermostModel(model) as DescribedModel;
  if (isCount(numCtx)) return numCtx;
  if (isCount(profile?.maxInputTokens)) return profile.maxInputTokens;
  const name = modelName(model).toLowerCase();
  return KNOWN_WINDOWS.find(([pattern]) => pattern.test(name))?.[1];
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value > 0 && Number.isFinite(value);
}
