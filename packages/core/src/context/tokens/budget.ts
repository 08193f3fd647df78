/** How much of a model's window each part of a request may take, and when it is time to compact. */
import { ConfigurationError } from "../../errors.ts";

export type SizeUnit = "fraction" | "tokens" | "messages";

/** A size as one unit and a number. */
export interface SizeSetting {
  type: SizeUnit;
  value: number;
}

/** A size in one of three forms. Of an object with several members all must be met. */
export type ContextSize =
  | Readonly<SizeSetting>
  | { readonly fraction?: number; readonly tokens?: number; readonly messages?: number }
  | readonly [unit: SizeUnit, value: number];

/** One size, or several: reaching any of them counts. */
export type ContextSizes = ContextSize | readonly ContextSize[];

export interface Size {
  readonly fraction?: number;
  readonly tokens?: number;
  readonly messages?: number;
}

/** The window of a model about which nothing is known: 85 % of it are 170,000 tokens. */
export const ASSUMED_WINDOW = 200_000;
export const DEFAULT_TRIGGER: Size = { fraction: 0.85 };
const DEFAULT_KEEP: Size = { fraction: 0.1 };
const DEFAULT_KEEP_UNKNOWN: Size = { messages: 6 };

const UNITS: readonly SizeUnit[] = ["fraction", "tokens", "messages"];

/** Throws a ConfigurationError that names the option. */
export function sizeOf(given: ContextSize, option: string): Size {
  const size = plainSize(given);
  const entries = UNITS.filter((unit) => size[unit] !== undefined);
  const isValid =
    entries.length > 0 &&
    entries.every((unit) => Number.isFinite(size[unit]) && size[unit]! > 0) &&
    (size.fraction ?? 1) <= 1;
  if (isValid) return size;
  throw new ConfigurationError("INVALID_OPTION", `The option '${option}' is no size: ${inspect(given)}.`, {
    hint: 'Sizes look like {fraction: 0.85}, {tokens: 100000}, {messages: 50}, {type: "tokens", value: 100000} or ["fraction", 0.85].',
  });
}

function inspect(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function plainSize(given: ContextSize): Size {
  if (typeof given !== "object" || given === null) return {};
  if (isPair(given)) return pairSize(given[0], given[1]);
  const { type, value, fraction, tokens, messages, ...others } = given as Size & Partial<SizeSetting>;
  if (Object.values(others).some((other) => other != null)) return {};
  if (type != null || value != null)
    return fraction == null && tokens == null && messages == null ? pairSize(type, value) : {};
  return {
    ...(fraction != null && { fraction }),
    ...(tokens != null && { tokens }),
    ...(messages != null && { messages }),
  };
}

function pairSize(unit: SizeUnit | undefined, value: number | undefined): Size {
  return unit !== undefined && UNITS.includes(unit) ? { [unit]: value } : {};
}

function isPair(given: unknown): given is readonly [SizeUnit, number] {
  return Array.isArray(given) && given.length === 2 && typeof given[0] === "string";
}

export function sizesOf(given: ContextSizes, option: string): readonly Size[] {
  if (!Array.isArray(given) || isPair(given)) return [sizeOf(given as ContextSize, option)];
  return given.map((size) => sizeOf(size, option));
}

export interface Measure {
  readonly tokens: number;
  readonly messages: number;
}

/** Whether one of the sizes is reached. */
export function isReached(sizes: readonly Size[], measure: Measure, window: number | undefined): boolean {
  return sizes.some((size) => {
    const { messages = 0 } = size;
    return measure.tokens >= (tokensOf(size, window) ?? 0) && measure.messages >= messages;
  });
}

/** In tokens; undefined for a number of messages alone. */
function tokensOf({ fraction, tokens }: Size, window: number | undefined): number | undefined {
  const share = fraction === undefined ? undefined : Math.floor(fraction * (window ?? ASSUMED_WINDOW));
  return share === undefined ? tokens : Math.max(share, tokens ?? 0);
}

export interface BudgetRequest {
  readonly triggers: readonly Size[];
  readonly keep: Size | undefined;
  readonly window: number | undefined;
  /** Tokens of system prompt and tools. */
  readonly fixed: number;
}

/** All in tokens, except `keepMessages`. */
export interface Budget {
  /** A request of this size is compacted. */
  readonly threshold: number;
  /** Tokens that the messages of a request may take below the threshold. */
  readonly usable: number;
  /** Tokens of a summary, at most. */
  readonly summary: number;
  /** Tokens of each part of the state beside the summary, at most. */
  readonly pin: number;
  /** Tokens of the newest request of a person beside the summary, if there is room. */
  readonly request: number;
  /** Tokens of the newest messages, at most. */
  readonly keepTokens: number;
  readonly keepMessages: number;
}

const OVERHEAD = 160;

export function budgetFor({ triggers, keep, window, fixed }: BudgetRequest): Budget {
  const wanted = Math.min(...triggers.map((size) => tokensOf(size, window) ?? Number.POSITIVE_INFINITY));
  const trigger = Number.isFinite(wanted) ? wanted : (tokensOf(DEFAULT_TRIGGER, window) as number);
  // Of a trigger that prompt and tools alone (nearly) reach, the messages get the whole.
  const asked = trigger > fixed * 1.25 ? trigger - fixed : trigger;
  const usable = Math.max(0, Math.min(asked, Math.floor((window ?? Infinity) * 0.95) - fixed));
  const kept = keep ?? defaultKeep(triggers, window);
  return {
    threshold: fixed + usable,
    usable,
    summary: clamp(usable * 0.2, 64, 8000),
    pin: clamp(usable * 0.07, 32, 2000),
    request: clamp(usable * 0.25, 32, 16_000),
    keepTokens: Math.min(tokensOf(kept, window) ?? Infinity, Math.floor(usable * 0.4)),
    keepMessages: kept.messages ?? Infinity,
  };
}

/** Tokens of a whole summary message, with this many tokens of a request. */
export function summaryAllowance({ summary, pin }: Budget, request: number = pin): number {
  return summary + pin + request + OVERHEAD;
}

function defaultKeep(triggers: readonly Size[], window: number | undefined): Size {
  const counted = triggers.map(({ messages }) => messages).filter((messages) => messages !== undefined);
  if (counted.length === triggers.length && counted.length > 0)
    return { messages: Math.max(1, Math.floor(Math.min(...counted) / 2)) };
  return window === undefined ? DEFAULT_KEEP_UNKNOWN : DEFAULT_KEEP;
}

function clamp(value: number, least: number, most: number): number {
  return Math.floor(Math.min(most, Math.max(least, value)));
}
