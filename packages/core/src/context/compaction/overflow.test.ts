import { ContextOverflowError } from "@langchain/core/errors";
import { describe, expect, it } from "vitest";
import { isContextOverflow, statedWindow } from "./overflow.ts";

const failed = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields);

const OVERFLOWS: readonly [string, unknown][] = [
  [
    "Anthropic",
    failed(
      '400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
      { status: 400 },
    ),
  ],
  [
    "Anthropic, with the reply",
    failed(
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
      { status: 400 },
    ),
  ],
  [
    "Anthropic, by size",
    failed('413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}', {
      status: 413,
    }),
  ],
  [
    "OpenAI chat",
    failed(
      "400 This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
      { status: 400, code: "context_length_exceeded" },
    ),
  ],
  [
    "OpenAI responses",
    failed(
      "400 Your input exceeds the context window of this model. Please adjust your input and try again.",
      { status: 400, code: "context_length_exceeded" },
    ),
  ],
  [
    "OpenAI, code alone",
    failed("400 Bad request", { status: 400, error: { code: "context_length_exceeded" } }),
  ],
  [
    "Gemini",
    failed(
      "[GoogleGenerativeAI Error]: [400 Bad Request] The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      { status: 400 },
    ),
  ],
  [
    "Bedrock",
    failed("ValidationException: Input is too long for requested model.", { name: "ValidationException" }),
  ],
  [
    "Bedrock, Llama",
    failed("This model's maximum context length is 8192 tokens. Please reduce the length of the prompt"),
  ],
  [
    "vLLM",
    failed(
      "400 This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      { status: 400 },
    ),
  ],
  [
    "llama.cpp",
    failed(
      "400 the request exceeds the available context size. try increasing the context size or enable context shift",
      { status: 400, error: { type: "exceed_context_size_error" } },
    ),
  ],
  ["Ollama", failed("input length exceeds maximum context length")],
  [
    "LM Studio",
    failed("The number of tokens to keep from the initial prompt is greater than the context length"),
  ],
  [
    "LM Studio, another",
    failed(
      "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    ),
  ],
  [
    "DeepSeek",
    failed("400 This model's maximum context length is 65536 tokens. However, you requested 70000 tokens", {
      status: 400,
    }),
  ],
  [
    "Groq",
    failed("400 Please reduce the length of the messages or completion.", {
      status: 400,
      code: "context_length_exceeded",
    }),
  ],
  [
    "Mistral",
    failed(
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ),
  ],
  [
    "OpenRouter",
    failed(
      "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
    ),
  ],
  ["LangChain", ContextOverflowError.fromError(new Error("something"))],
  [
    "one that wraps another",
    failed("Model call failed", { cause: failed("prompt is too long: 5 tokens > 4 maximum") }),
  ],
];

const OTHERS: readonly [string, unknown][] = [
  [
    "tokens per minute",
    failed("429 Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.", {
      status: 429,
      code: "rate_limit_exceeded",
    }),
  ],
  [
    "tokens per minute at Anthropic",
    failed("429 This request would exceed your organization's rate limit of 40,000 input tokens per minute", {
      status: 429,
    }),
  ],
  [
    "the length of a reply",
    failed("400 max_tokens is too large: 100000. This model supports at most 16384 completion tokens", {
      status: 400,
    }),
  ],
  [
    "the length of a reply at Anthropic",
    failed(
      "400 max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model",
      { status: 400 },
    ),
  ],
  ["a wrong key", failed("401 Invalid API key", { status: 401 })],
  ["a lost connection", failed("Connection error.", { code: "ECONNRESET" })],
  [
    "a broken request",
    failed("400 messages.3: `tool_use` ids were found without `tool_result` blocks", { status: 400 }),
  ],
  ["no money", failed("400 Your credit balance is too low to access the API", { status: 400 })],
  ["a server that is busy", failed("529 Overloaded", { status: 529 })],
  ["a tool that failed", failed("The context of this call is missing")],
  ["nothing", undefined],
  ["text", "oops"],
];

describe("isContextOverflow", () => {
  it.each(OVERFLOWS)("knows the refusal of %s", (_name, error) =>
    expect(isContextOverflow(error)).toBe(true),
  );
  it.each(OTHERS)("does not take %s for one", (_name, error) => expect(isContextOverflow(error)).toBe(false));
  it("survives errors that point at themselves", () => {
    const error = failed("loop");
    error.cause = error;
    expect(isContextOverflow(error)).toBe(false);
  });
});

describe("statedWindow", () => {
  it.each<[string, number | undefined]>([
    ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
    ["This model's maximum context length is 128000 tokens.", 128_000],
    ["exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
    ["the model is loaded with context length of only 4096 tokens", 4096],
    ["Input is too long for requested model.", undefined],
  ])("reads %j", (message, expected) => expect(statedWindow(failed(message))).toBe(expected));
});
