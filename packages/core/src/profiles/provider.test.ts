import { ChatAnthropic } from "@langchain/anthropic";
import { describe, expect, test } from "vitest";
import { modelSource } from "../loop/providers/model-source.ts";
import { providerOptionsFor } from "../loop/providers/provider-options.ts";
import { newProvider } from "./profiles-for-tests.ts";
import { registerProviderProfile } from "./provider.ts";

describe("a provider profile", () => {
  test("is merged option by option: of the provider, of the model, one after the other", () => {
    const provider = newProvider();
    registerProviderProfile(provider, { initOptions: { temperature: 0, topP: 1 } });
    registerProviderProfile(`${provider}:one`, { init_kwargs: { reasoning_effort: "medium" } });
    registerProviderProfile(provider, { initKwargs: { topP: 0.5 } });
    expect(providerOptionsFor(`${provider}:one`)).toEqual({
      temperature: 0,
      topP: 0.5,
      reasoning_effort: "medium",
    });
    expect(providerOptionsFor(`${provider}:two`)).toEqual({ temperature: 0, topP: 0.5 });
    expect(providerOptionsFor("nobody:nothing")).toEqual({});
  });

  test("makes models that are named by a string, and leaves instances as they are", async () => {
    registerProviderProfile("anthropic", { initOptions: { apiKey: "k", temperature: 0.25 } });
    registerProviderProfile("anthropic:claude-test", { initOptions: { maxTokens: 77 } });
    const named = await modelSource("anthropic:claude-test").resolve();
    expect(named).toMatchObject({ model: "claude-test", temperature: 0.25, maxTokens: 77 });
    const other = await modelSource("anthropic:claude-other").resolve();
    expect(other).toMatchObject({ model: "claude-other", temperature: 0.25 });
    expect(other).not.toMatchObject({ maxTokens: 77 });
    const given = new ChatAnthropic({ model: "claude-test", apiKey: "k", maxTokens: 5 });
    expect(await modelSource(given).resolve()).toMatchObject({ maxTokens: 5 });
    expect(given.temperature).toBeUndefined();
  });

  test.each([[{ options: {} }], [{ initOptions: [] }], [null]])("%j is refused", (profile) => {
    expect(() => registerProviderProfile("anthropic", profile as never)).toThrow(
      expect.objectContaining({ code: "INVALID_PROFILE" }),
    );
  });
});
