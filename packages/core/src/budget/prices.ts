/**
 * List prices of models as data, in dollars for a million tokens. Prices change; prices stated by the caller come
 * first.
 */
import { ownValue } from "../text/own-value.ts";

/** Dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that came from the provider's cache; absent: as `input`. */
  readonly cacheRead?: number;
  /** Input that was written to the cache; absent: as `input`. */
  readonly cacheWrite?: number;
  /** Prices of a whole request with more input tokens than this. */
  readonly above?: Omit<ModelPrice, "above"> & { readonly inputTokens: number };
}

/** Prices by the name of a model. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const price = (input: number, output: number, cacheRead: number, cacheWrite = input): ModelPrice => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

const LONG = 200_000;

export const MODEL_PRICES: ModelPrices = {
  "claude-opus-4-6": price(5, 25, 0.5, 6.25),
  "claude-opus-4-5": price(5, 25, 0.5, 6.25),
  "claude-opus-4-1": price(15, 75, 1.5, 18.75),
  "claude-opus-4": price(15, 75, 1.5, 18.75),
  "claude-sonnet-4-6": {
    ...price(3, 15, 0.3, 3.75),
    above: { inputTokens: LONG, ...price(6, 22.5, 0.6, 7.5) },
  },
  "claude-sonnet-4-5": {
    ...price(3, 15, 0.3, 3.75),
    above: { inputTokens: LONG, ...price(6, 22.5, 0.6, 7.5) },
  },
  "claude-sonnet-4": {
    ...price(3, 15, 0.3, 3.75),
    above: { inputTokens: LONG, ...price(6, 22.5, 0.6, 7.5) },
  },
  "claude-3-7-sonnet": price(3, 15, 0.3, 3.75),
  "claude-haiku-4-5": price(1, 5, 0.1, 1.25),
  "claude-3-5-haiku": price(0.8, 4, 0.08, 1),
  "claude-3-haiku": price(0.25, 1.25, 0.03, 0.3),
  "gpt-5.2": price(1.75, 14, 0.175),
  "gpt-5.2-codex": price(1.75, 14, 0.175),
  "gpt-5.2-pro": price(21, 168, 21),
  "gpt-5.1": price(1.25, 10, 0.125),
  "gpt-5.1-codex": price(1.25, 10, 0.125),
  "gpt-5.1-codex-max": price(1.25, 10, 0.125),
  "gpt-5.1-codex-mini": price(0.25, 2, 0.025),
  "gpt-5": price(1.25, 10, 0.125),
  "gpt-5-codex": price(1.25, 10, 0.125),
  "gpt-5-pro": price(15, 120, 15),
  "gpt-5-mini": price(0.25, 2, 0.025),
  "gpt-5-nano": price(0.05, 0.4, 0.005),
  "gpt-4.1": price(2, 8, 0.5),
  "gpt-4.1-mini": price(0.4, 1.6, 0.1),
  "gpt-4.1-nano": price(0.1, 0.4, 0.025),
  "gpt-4o": price(2.5, 10, 1.25),
  "gpt-4o-mini": price(0.15, 0.6, 0.075),
  o3: price(2, 8, 0.5),
  "o3-mini": price(1.1, 4.4, 0.55),
  "o4-mini": price(1.1, 4.4, 0.275),
  "gemini-3.1-pro": { ...price(2, 12, 0.2), above: { inputTokens: LONG, ...price(4, 18, 0.4) } },
  "gemini-3-pro": { ...price(2, 12, 0.2), above: { inputTokens: LONG, ...price(4, 18, 0.4) } },
  "gemini-3-flash": price(0.5, 3, 0.05),
  "gemini-2.5-pro": { ...price(1.25, 10, 0.125), above: { inputTokens: LONG, ...price(2.5, 15, 0.25) } },
  "gemini-2.5-flash": price(0.3, 2.5, 0.03),
  "gemini-2.5-flash-lite": price(0.1, 0.4, 0.01),
  "glm-5": price(1, 3.2, 0.2),
  "glm-4.7": price(0.6, 2.2, 0.11),
  "glm-4.6": price(0.6, 2.2, 0.11),
  "glm-4.5": price(0.6, 2.2, 0.11),
  "glm-4.5-air": price(0.2, 1.1, 0.03),
};

/** Usage of one request, as far as its price depends on it. `input` includes cached tokens. */
export interface PricedTokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** In dollars. */
export function costOf(tokens: PricedTokens, price: ModelPrice): number {
  const { above } = price;
  const rates = above !== undefined && tokens.input > above.inputTokens ? above : price;
  const plain = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWrite);
  const sum =
    plain * rates.input +
    tokens.cacheRead * (rates.cacheRead ?? rates.input) +
    tokens.cacheWrite * (rates.cacheWrite ?? rates.input) +
    tokens.output * rates.output;
  return sum / 1_000_000;
}

/** Suffixes that do not make the name of a model another model: a date, a version, a region. */
const SAME_MODEL = /^(?:[-@:](?:\d{3,}|latest|preview|v\d|thinking).*|\[1m\])?$/;

/**
 * The price of a model by the name its provider has for it, also as a gateway spells it
 * (`anthropic/claude-sonnet-4.5`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`); undefined when it is not known.
 */
export function priceOf(name: string, stated: ModelPrices = {}): ModelPrice | undefined {
  return ownValue(stated, name) ?? named(name, stated) ?? named(name, MODEL_PRICES);
}

function named(name: string, prices: ModelPrices): ModelPrice | undefined {
  const spelt = spelling(name);
  for (const [key, value] of Object.entries(prices)) {
    const known = spelling(key);
    const at = spelt.indexOf(known);
    if (at < 0 || (at > 0 && !/[-/:]/.test(spelt[at - 1] as string))) continue;
    if (known !== "" && SAME_MODEL.test(spelt.slice(at + known.length))) return value;
  }
  return undefined;
}

function spelling(name: string): string {
  return name.toLowerCase().replaceAll(".", "-");
}
