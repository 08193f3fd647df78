import { ChatAnthropic } from "@langchain/anthropic";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { AzureChatOpenAI, ChatOpenAI } from "@langchain/openai";
import { initChatModel } from "langchain/chat_models/universal";
import { describe, expect, test, vi } from "vitest";
import { scriptedModel } from "../testing/index.ts";
import { newProvider } from "./profiles-for-tests.ts";
import { registerHarnessProfile } from "./registry.ts";
import { getHarnessProfile, resolveHarnessProfile } from "./resolve.ts";

describe("the profile of a model", () => {
  test("is that of its provider, and over it its own", () => {
    const provider = newProvider();
    registerHarnessProfile(provider, { systemPromptSuffix: "All.", excludedTools: ["execute"] });
    registerHarnessProfile(`${provider}:one`, { systemPromptSuffix: "One.", excludedTools: ["grep"] });
    expect(resolveHarnessProfile(`${provider}:one`).profile).toMatchObject({
      systemPromptSuffix: "One.",
      excludedTools: new Set(["execute", "grep"]),
    });
    expect(resolveHarnessProfile(`${provider}:two`).profile).toMatchObject({
      systemPromptSuffix: "All.",
      excludedTools: new Set(["execute"]),
    });
    expect(resolveHarnessProfile(`${provider}:one`).keys).toEqual([provider, `${provider}:one`]);
  });

  test("registered twice is merged", () => {
    const provider = newProvider();
    registerHarnessProfile(provider, { systemPromptSuffix: "First.", excludedTools: ["execute"] });
    registerHarnessProfile(provider, { systemPromptSuffix: "Second." });
    expect(getHarnessProfile(provider)).toMatchObject({
      systemPromptSuffix: "Second.",
      excludedTools: new Set(["execute"]),
    });
  });

  test("is undefined where nothing is known", () => {
    expect(getHarnessProfile("nobody:nothing")).toBeUndefined();
    expect(getHarnessProfile("")).toBeUndefined();
    expect(resolveHarnessProfile(scriptedModel([])).keys).toEqual([]);
    expect(resolveHarnessProfile(undefined).keys).toEqual([]);
  });

  test("names of models may have colons and slashes of their own", () => {
    const provider = newProvider();
    registerHarnessProfile(`${provider}:org/model:8b`, { systemPromptSuffix: "Small." });
    expect(getHarnessProfile(`${provider}:org/model:8b`)?.systemPromptSuffix).toBe("Small.");
    expect(getHarnessProfile(`${provider}:org/model`)).toBeUndefined();
  });

  test.each(["", ":model", "provider:", " ", "provider: model", null, 3])("%j is no key", (key) => {
    expect(() => registerHarnessProfile(key as string, {})).toThrow(
      expect.objectContaining({ code: "INVALID_PROFILE", message: expect.stringContaining("no key") }),
    );
  });

  test("two copies of the library share the registry", async () => {
    const provider = newProvider();
    vi.resetModules();
    const other: typeof import("./registry.ts") = await import("./registry.ts");
    expect(other.registerHarnessProfile).not.toBe(registerHarnessProfile);
    other.registerHarnessProfile(provider, { systemPromptSuffix: "From the other." });
    expect(getHarnessProfile(provider)?.systemPromptSuffix).toBe("From the other.");
    expect(Symbol.for("deepwright.harness-profiles.v1") in globalThis).toBe(true);
  });
});

describe("of an instance", () => {
  const azure = {
    azureOpenAIApiKey: "k",
    azureOpenAIApiInstanceName: "i",
    azureOpenAIApiDeploymentName: "d",
    azureOpenAIApiVersion: "v",
  };
  test.each<[string, () => unknown]>([
    ["anthropic:claude-test", () => new ChatAnthropic({ model: "claude-test", apiKey: "k" })],
    ["openai:gpt-test", () => new ChatOpenAI({ model: "gpt-test", apiKey: "k" })],
    ["azure_openai:gpt-test", () => new AzureChatOpenAI({ model: "gpt-test", ...azure })],
    ["google-genai:gemini-test", () => new ChatGoogleGenerativeAI({ model: "gemini-test", apiKey: "k" })],
    [
      "openai:gpt-bound",
      () => new ChatOpenAI({ model: "gpt-bound", apiKey: "k" }).withConfig({ tags: ["t"] }),
    ],
    ["anthropic:claude-named", () => initChatModel("anthropic:claude-named", { apiKey: "k" })],
  ])("%s is found by its class and its name", async (key, make) => {
    registerHarnessProfile(key, { systemPromptSuffix: `For ${key}.` });
    expect(resolveHarnessProfile(await make()).profile.systemPromptSuffix).toBe(`For ${key}.`);
  });

  test("a name without a provider has that of its maker", () => {
    registerHarnessProfile("openai:gpt-bare", { systemPromptSuffix: "Bare." });
    expect(getHarnessProfile("gpt-bare")?.systemPromptSuffix).toBe("Bare.");
  });
});

describe("built-in profiles", () => {
  test.each([
    ["claude", "anthropic:claude-sonnet-4-6"],
    ["claude", "anthropic:claude-opus-4-5-20251101"],
    ["claude", "bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["gpt", "openai:gpt-5.2-codex"],
    ["gpt", "openai:gpt-4o"],
    ["gpt", "azure_openai:gpt-4.1"],
    ["gemini", "google-genai:gemini-3-pro-preview"],
    ["gemini", "google-vertexai:gemini-2.5-flash"],
    ["glm", "baseten:zai-org/GLM-5"],
    ["glm", "openrouter:z-ai/glm-4.6"],
  ])("%s is used for %s", (family, model) => {
    const { keys, profile } = resolveHarnessProfile(model);
    expect(keys).toEqual([`built-in ${family}`]);
    expect(profile.systemPromptSuffix?.length).toBeGreaterThan(40);
    expect(profile.systemPromptSuffix?.length).toBeLessThan(300);
    expect(profile.excludedTools.size + profile.excludedMiddleware.size).toBe(0);
  });

  test.each(["anthropic:claude-3-5-sonnet", "ollama:llama3.3", "scripted:m-1", "openai:o3"])(
    "none is used for %s",
    (model) => {
      expect(resolveHarnessProfile(model).keys).toEqual([]);
    },
  );

  test("everything that is registered lies over them", () => {
    const provider = newProvider();
    registerHarnessProfile(provider, { systemPromptSuffix: "" });
    const { keys, profile } = resolveHarnessProfile(`${provider}:claude-sonnet-4-6`);
    expect(keys).toEqual(["built-in claude", provider]);
    expect(profile.systemPromptSuffix).toBe("");
  });
});

describe("the profile of one agent", () => {
  test("lies over all others; false means none", () => {
    const provider = newProvider();
    registerHarnessProfile(provider, { systemPromptSuffix: "All.", excludedTools: ["execute"] });
    const model = `${provider}:m`;
    expect(resolveHarnessProfile(model, { systemPromptSuffix: "Mine." })).toMatchObject({
      keys: [provider, "agent"],
      profile: { systemPromptSuffix: "Mine.", excludedTools: new Set(["execute"]) },
    });
    expect(resolveHarnessProfile(model, false)).toMatchObject({
      keys: [],
      profile: { systemPromptSuffix: undefined, excludedTools: new Set() },
    });
  });

  test.each([true, "openai", 3, { nothing: 1 }])("%j is none", (option) => {
    expect(() => resolveHarnessProfile("a:b", option)).toThrow(
      expect.objectContaining({ code: "INVALID_PROFILE" }),
    );
  });
});
