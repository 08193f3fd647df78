/** Whether a model did not answer because the request was longer than its window. */
import { ContextOverflowError } from "@langchain/core/errors";

/** Codes of providers and of LangChain's packages, in any field of an error. */
const CODES = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "request_too_large",
  "prompt_too_long",
  "exceed_context_size_error",
  "model_context_window_exceeded",
]);

/** The words of Anthropic, OpenAI, Gemini, Bedrock and of the servers that speak OpenAI's protocol. */
const WORDS: readonly RegExp[] = [
  /prompt is too long/i,
  /input is too long/i,
  /input (?:length|tokens?) .{0,80}exceeds?/i,
  /input length and `?max_tokens`? exceed context limit/i,
  /(?:maximum|model'?s?(?: maximum)?) context (?:length|window|size)/i,
  /max(?:imum)?[ _]context[ _](?:length|window|size)/i,
  /exceeds? the (?:model'?s? )?(?:maximum )?(?:context|available context|limit of \d+ tokens)/i,
  /exceeds? the maximum number of tokens/i,
  /exceeds? the maximum (?:allowed )?(?:input|prompt) (?:length|tokens|size)/i,
  /exceed_context_size|context_length_exceeded|context_window_exceeded/i,
  /(?:context|prompt|input)(?: length| window| size)? (?:is |was )?(?:exceeded|too (?:long|large))/i,
  /(?:exceeds?|larger than|longer than|greater than|overflows?) (?:the )?(?:available )?context (?:length|window|size|limit)/i,
  /too many (?:input |prompt |total )?tokens(?! per)/i,
  /context length of only \d+ tokens/i,
  /too large for model with \d+ maximum context/i,
  /reduce the length of (?:the )?(?:messages|prompt|input|either)/i,
  /request (?:entity )?too large|request exceeds the maximum (?:allowed )?(?:number of bytes|size)/i,
  /tokens? (?:to keep from|in) (?:the )?(?:initial )?prompt.{0,60}(?:context|exceed)/i,
];

/** A limit of time, money or of the reply: shortening the request does not help. */
const OTHER_LIMITS: readonly RegExp[] = [
  /per[ -](?:minute|min\b|hour|day)/i,
  /rate.?limit|\bTPM\b|\bRPM\b|quota|insufficient_quota|credit balance/i,
  /max(?:imum)?_?(?:completion|output|new)?_?tokens.{0,40}(?:is too large|must be|at (?:most|least)|maximum allowed|not supported)/i,
  /max(?:imum)? (?:output|completion) tokens/i,
];

export function isContextOverflow(error: unknown): boolean {
  return inChain(error, (one) => {
    if (ContextOverflowError.isInstance(one)) return true;
    const words = wordsOf(one);
    if (statusOf(one) === 429 && !CODES.has(codeOf(one))) return false;
    if (OTHER_LIMITS.some((pattern) => pattern.test(words)) && !/prompt is too long/i.test(words))
      return false;
    return CODES.has(codeOf(one)) || statusOf(one) === 413 || WORDS.some((pattern) => pattern.test(words));
  });
}

/** The window as the provider states it, where it does. */
export function statedWindow(error: unknown): number | undefined {
  let window: number | undefined;
  inChain(error, (one) => {
    const words = wordsOf(one);
    for (const pattern of STATED) {
      const found = pattern.exec(words)?.[1];
      if (found !== undefined && window === undefined) window = Number(found.replaceAll(/[,_]/g, ""));
    }
    return window !== undefined;
  });
  return window !== undefined && window > 0 ? window : undefined;
}

const STATED: readonly RegExp[] = [
  /tokens? > ([\d,]+) maximum/i,
  /maximum context (?:length|window|size)(?: of| is|:)? ([\d,]+)/i,
  /maximum number of tokens allowed \(?([\d,]+)/i,
  /"?n_ctx"?[ :=(]+([\d,]+)/i,
  /context (?:length|window|size)(?: of(?: only)?| is|:)? \(?([\d,]+)/i,
  /limit of ([\d,]+) tokens/i,
];

const DEEPEST = 6;

/** Checks an error, the errors that it wraps and the objects in it, outermost first. */
function inChain(error: unknown, isIt: (one: Record<string, unknown>) => boolean): boolean {
  let current = error;
  for (let depth = 0; depth < DEEPEST && typeof current === "object" && current !== null; depth += 1) {
    const one = current as Record<string, unknown>;
    if (isIt(one)) return true;
    const inner = one.error;
    if (typeof inner === "object" && inner !== null && isIt(inner as Record<string, unknown>)) return true;
    current = one.cause;
  }
  return typeof current === "string" && isIt({ message: current });
}

function wordsOf(one: Record<string, unknown>): string {
  const { message, body } = one;
  return [message, typeof body === "string" ? body : undefined]
    .filter((part) => typeof part === "string")
    .join("\n")
    .slice(0, 4000);
}

function codeOf({ code, type, lc_error_code: own, name }: Record<string, unknown>): string {
  return String([code, type, own, name].find((value) => CODES.has(String(value))) ?? "");
}

function statusOf({ status, statusCode }: Record<string, unknown>): number | undefined {
  const value = Number(status ?? statusCode);
  return Number.isInteger(value) ? value : undefined;
}
