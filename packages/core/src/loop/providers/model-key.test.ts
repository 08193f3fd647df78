import { describe, expect, test } from "vitest";
import { scriptedModel } from "../../testing/index.ts";
import { checkedModelKey, keyText, modelKeyOf, parseModelKey } from "./model-key.ts";

describe("the key of a model", () => {
  test.each([
    ["openai:gpt-4o", "openai", "gpt-4o"],
    ["baseten:zai-org/GLM-5", "baseten", "zai-org/GLM-5"],
    ["ollama:llama3:8b", "ollama", "llama3:8b"],
    ["OpenAI", "openai", ""],
    ["google_genai:gemini", "google-genai", "gemini"],
    ["azure:gpt", "azure-openai", "gpt"],
    ["mistral:m", "mistralai", "m"],
    ["constructor:m", "constructor", "m"],
  ])("%s is read", (text, provider, model) => {
    expect(parseModelKey(text)).toEqual({ provider, model });
    expect(parseModelKey(keyText({ provider, model }))).toEqual({ provider, model });
    expect(checkedModelKey(text)).toBe(keyText({ provider, model }));
  });

  test.each([
    ["gpt-4o", "openai"],
    ["o3", "openai"],
    ["claude-sonnet-4-6", "anthropic"],
    ["gemini-2.5-pro", "google-vertexai"],
  ])("of the bare name %s is that of its maker", (model, provider) => {
    expect(modelKeyOf(model)).toEqual({ provider, model });
  });

  test("of an instance is what it says of itself; one that cannot say has none", () => {
    expect(modelKeyOf(scriptedModel([], { modelName: "m" }))).toEqual({ provider: "scripted", model: "m" });
    const shy = {
      getLsParams: () => {
        throw new Error("not yet");
      },
    };
    for (const nothing of [{}, null, undefined, 3, shy])
      expect(modelKeyOf(nothing)).toEqual({ provider: "", model: "" });
  });
});
