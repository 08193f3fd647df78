/** Ways in which a model call goes wrong, as turns of a script. */
import { ContextOverflowError, stampRetryable } from "@langchain/core/errors";
import { asTurn, type Reply, type ScriptedTurn } from "./turn.ts";

/** An HTTP error as a provider's SDK throws it, with the fields that retry logic looks at. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly status: number | undefined;
  readonly headers: Headers;
  /** A system error code such as `ECONNRESET`; undefined when an HTTP answer came. */
  readonly code: string | undefined;
  /** LangChain's own code, where its provider packages give one. */
  readonly lc_error_code: string | undefined;
  /** Wait that the `retry-after` header asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: ProviderErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.headers = new Headers();
    this.lc_error_code = fields.status === undefined ? undefined : LANGCHAIN_CODES[fields.status];
    if (fields.retryAfter !== undefined) this.headers.set("retry-after", String(fields.retryAfter));
    this.retryAfterMs = fields.retryAfter === undefined ? undefined : fields.retryAfter * 1000;
    const retryable = fields.status === undefined ? undefined : RETRYABLE[fields.status];
    if (retryable !== undefined) stampRetryable(this, retryable);
  }
}

interface ProviderErrorFields {
  readonly status?: number;
  readonly code?: string;
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

const LANGCHAIN_CODES: Readonly<Record<number, string>> = {
  401: "MODEL_AUTHENTICATION",
  404: "MODEL_NOT_FOUND",
  429: "MODEL_RATE_LIMIT",
};

/** The marks LangChain's provider packages put on their errors; other statuses stay unmarked. */
const RETRYABLE: Readonly<Record<number, boolean>> = { 401: false, 404: false, 429: true };

const PHRASES: Readonly<Record<number, string>> = {
  400: "Invalid request",
  401: "Invalid API key",
  403: "Permission denied",
  404: "Model not found",
  408: "Request timed out",
  413: "Request too large",
  429: "Rate limit exceeded",
  500: "Internal server error",
  502: "Bad gateway",
  503: "Service unavailable",
  529: "Overloaded",
};

/** An HTTP error of the provider. */
function status(code: number, message: string = PHRASES[code] ?? "Request failed"): ProviderError {
  return new ProviderError(`${code} ${message}`, { status: code });
}

/** HTTP 429; `retryAfter` is in seconds, as in the header. */
function rateLimit(options: { readonly retryAfter?: number } = {}): ProviderError {
  return new ProviderError(`429 ${PHRASES[429]}`, { status: 429, ...options });
}

/** The connection broke before an answer came. */
function connectionReset(): ProviderError {
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  return new ProviderError("Connection error.", { code: "ECONNRESET", cause });
}

/** The request is larger than the model's window. */
function contextOverflow(): Error {
  const cause = status(400, "prompt is too long: 210000 tokens > 200000 maximum");
  return Object.assign(ContextOverflowError.fromError(cause), { status: 400 });
}

/**
 * The stream of `turn` breaks after `after` chunks: it throws, or with `silently` just ends.
 * Without streaming it always throws, since half a response body cannot be parsed.
 */
function cutStream(options: {
  readonly after: number;
  readonly silently?: boolean;
  readonly turn?: Reply;
}): ScriptedTurn {
  const { after, silently = false, turn = "This reply is cut off before it ends." } = options;
  return { ...asTurn(turn), cut: { after, silently } };
}

/** A call whose argument text is no JSON: an `invalid_tool_calls` entry, or broken streamed text. */
function malformedCall(call: {
  readonly name: string;
  readonly args: string;
  readonly id?: string | null;
}): ScriptedTurn {
  const { args, ...rest } = call;
  return { toolCalls: [{ ...rest, rawArgs: args }] };
}

/** A reply without words and without calls. */
function empty(): ScriptedTurn {
  return { text: "" };
}

/** A reply that thinks and then says nothing. */
function onlyThinking(thinking = "Let me think about this."): ScriptedTurn {
  return { content: [{ type: "thinking", thinking, signature: "scripted" }] };
}

/** The model declines. */
function refusal(text = "I cannot help with that."): ScriptedTurn {
  return { text: "", finishReason: "refusal", additionalKwargs: { refusal: text } };
}

/** `turn`, cut off at the model's output limit. */
function length(turn: Reply = "This reply is cut off at the"): ScriptedTurn {
  return { ...asTurn(turn), finishReason: "length" };
}

/** The provider's filter stopped the reply after `text`. */
function contentFilter(text = ""): ScriptedTurn {
  return { text, finishReason: "content_filter" };
}

/** No answer ever, until the call is aborted. */
function never(): ScriptedTurn {
  return { never: true };
}

/** Faults to put into a script where a turn may stand. */
export const fault = {
  status,
  rateLimit,
  connectionReset,
  contextOverflow,
  cutStream,
  malformedCall,
  empty,
  onlyThinking,
  refusal,
  length,
  contentFilter,
  never,
} as const;
