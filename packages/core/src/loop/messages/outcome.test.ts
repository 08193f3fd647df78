import { AIMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { outcomeOf } from "./outcome.ts";

const reply = (content: AIMessage["content"], metadata: object = {}, extra: object = {}): AIMessage =>
  new AIMessage({ content, response_metadata: metadata as never, additional_kwargs: extra as never });

test.each<[string, AIMessage | undefined, string]>([
  ["words", reply("hi", { finish_reason: "stop" }), "done"],
  ["OpenAI's length", reply("hi", { finish_reason: "length" }), "length"],
  ["Anthropic's max_tokens", reply("hi", { stop_reason: "max_tokens" }), "length"],
  ["Gemini's MAX_TOKENS", reply("hi", { finishReason: "MAX_TOKENS" }), "length"],
  [
    "OpenAI's responses API, incomplete",
    reply("hi", { incomplete_details: { reason: "max_output_tokens" } }),
    "length",
  ],
  ["Ollama's length", reply("hi", { done_reason: "length" }), "length"],
  ["a content filter", reply("", { finish_reason: "content_filter" }), "content_filter"],
  ["Gemini's safety stop", reply("", { finishReason: "SAFETY" }), "content_filter"],
  ["Anthropic's refusal", reply("no", { stop_reason: "refusal" }), "refusal"],
  ["OpenAI's refusal", reply("", {}, { refusal: "I will not." }), "refusal"],
  ["a refusal block", reply([{ type: "refusal", refusal: "No." }] as never), "refusal"],
  ["nothing at all", reply(""), "empty"],
  ["blank text", reply("  \n"), "empty"],
  ["only thinking", reply([{ type: "thinking", thinking: "hm" }] as never), "empty"],
  ["no message", undefined, "empty"],
])("a run that ends with %s", (_, message, kind) => {
  expect(outcomeOf(message).kind).toBe(kind);
});
