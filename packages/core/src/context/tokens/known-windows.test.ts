import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { expect, test } from "vitest";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { windowOf } from "./known-windows.ts";

const named = (modelName: string): ChatModel => scriptedModel([], { modelName }) as unknown as ChatModel;

test.each([
  ["claude-sonnet-4-5", 200_000],
  ["anthropic/claude-opus-4.1", 200_000],
  ["gpt-4o-mini", 128_000],
  ["gpt-4.1-nano", 1_047_576],
  ["gpt-4", 8192],
  ["gpt-4-0613", 8192],
  ["gpt-5-mini", 272_000],
  ["o3", 200_000],
  ["openai/o4-mini", 200_000],
  ["gemini-2.5-flash", 1_048_576],
  ["GLM-4.6", 200_000],
  ["never-heard-of", undefined],
  ["solo3", undefined],
])("the window of %s is %s", (name, window) => {
  expect(windowOf(named(name))).toBe(window);
});

test("what a model says of itself counts more than its name", () => {
  const model = scriptedModel([], { modelName: "gpt-4o", profile: { maxInputTokens: 8000 } });
  expect(windowOf(model as unknown as ChatModel)).toBe(8000);
});

test("the window of a model with options bound to it is that of the model", () => {
  const model = scriptedModel([], { profile: { maxInputTokens: 8000 } });
  expect(windowOf(model.withConfig({ tags: ["a"] }) as unknown as ChatModel)).toBe(8000);
});

test("a server that was told how much to keep has no larger window", () => {
  const model = Object.assign(scriptedModel([], { profile: { maxInputTokens: 128_000 } }), { numCtx: 4096 });
  expect(windowOf(model as unknown as ChatModel)).toBe(4096);
});

test("the packages of providers are understood", () => {
  const models = [
    new ChatAnthropic({ model: "claude-sonnet-4-5", apiKey: "none" }),
    new ChatOpenAI({ model: "gpt-4o", apiKey: "none" }),
  ];
  for (const model of models) expect(windowOf(model as unknown as ChatModel)).toBeGreaterThanOrEqual(120_000);
});
