/** `provider:model` strings, with LangChain's own clients against a server of this machine. */
import { readFileSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { type ProviderServer, providerServer } from "../../context/fixtures/provider-server-for-tests.ts";
import { registerProviderProfile } from "../../profiles/provider.ts";
import { loadChatModel } from "./load-model.ts";
import { modelKeyOf } from "./model-key.ts";
import { MODEL_PROVIDERS, providerName } from "./table.ts";

let server: ProviderServer | undefined;

beforeEach(() => {
  for (const { keys, name } of MODEL_PROVIDERS)
    for (const variable of [...keys, `${name.toUpperCase().replaceAll("-", "_")}_BASE_URL`])
      vi.stubEnv(variable, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close();
});

async function asked(model: string, place: (url: string) => void): Promise<Record<string, unknown>> {
  server = await providerServer({ answer: () => ({ text: "Done." }) });
  place(server.url);
  await createDeepAgent({ model }).invoke({ messages: [new HumanMessage("go")] });
  expect(server.refusals).toEqual([]);
  return server.requests[0]?.body as Record<string, unknown>;
}

const compatible = MODEL_PROVIDERS.filter(({ baseUrl }) => baseUrl !== undefined);

describe("a provider that speaks OpenAI's protocol", () => {
  test.each(compatible.map((one) => [one.name, one] as const))(
    "%s is reached at its address with its key",
    async (name, { keys, baseUrl }) => {
      vi.stubEnv(keys.at(-1) as string, "secret-of-it");
      const client = (await loadChatModel(`${name}:maker/model:1`)) as unknown as ChatOpenAI;
      expect(client).toBeInstanceOf(ChatOpenAI);
      expect([client.model, client.apiKey]).toEqual(["maker/model:1", "secret-of-it"]);
      expect((client as unknown as { clientConfig: { baseURL: string } }).clientConfig.baseURL).toBe(baseUrl);
      expect(modelKeyOf(client)).toEqual({ provider: name, model: "maker/model:1" });
      expect(createDeepAgent({ model: client }).describe().model).toBe(`${name}:maker/model:1`);
    },
  );

  test.each(compatible.filter(({ isLocal }) => !isLocal).map(({ name, keys }) => [name, keys[0]]))(
    "%s without a key: the error names %s",
    async (name, variable) => {
      await expect(loadChatModel(`${name}:m`)).rejects.toMatchObject({
        code: "MODEL_NOT_AVAILABLE",
        message: expect.stringMatching(`the variable ${variable}.* is not set`),
      });
    },
  );

  test("the verified model of Baseten answers an agent; its address may come from a variable", async () => {
    vi.stubEnv("BASETEN_API_KEY", "secret-of-it");
    const body = await asked("baseten:zai-org/GLM-5", (url) => vi.stubEnv("BASETEN_BASE_URL", `${url}/v1`));
    expect([body.model, server?.requests[0]?.path]).toEqual(["zai-org/GLM-5", "/v1/chat/completions"]);
  });

  test.each(["lmstudio", "vllm"])("%s on this machine needs no key", async (name) => {
    expect(await loadChatModel(`${name}:m`)).toBeInstanceOf(ChatOpenAI);
  });
});

test.each(["google:m", "google_genai:m", "google-genai:m", "gemini:m", "Google:m"])(
  "%s is Gemini, with either of its variables",
  async (name) => {
    vi.stubEnv("GEMINI_API_KEY", "secret-of-it");
    const client = await loadChatModel(name);
    expect(client).toBeInstanceOf(ChatGoogleGenerativeAI);
    expect(client).toMatchObject({ model: "m", apiKey: "secret-of-it" });
    expect(modelKeyOf(name).provider).toBe("google-genai");
  },
);

test.each([
  ["anthropic:m", "Set ANTHROPIC_API_KEY."],
  ["google:m", "Set GOOGLE_API_KEY or GEMINI_API_KEY."],
  ["bedrock:m", "npm install @langchain/aws"],
  ["perplexity:m", "npm install @langchain/perplexity"],
  ["nosuch:m", "there is no such provider"],
  ["nosuch:m", "openrouter"],
])("%s: the error says %s", async (name, words) => {
  await expect(loadChatModel(name)).rejects.toMatchObject({
    code: "MODEL_NOT_AVAILABLE",
    message: expect.stringContaining(words),
  });
});

describe("the reasoning effort of a provider profile reaches the request", () => {
  const given = { apiKey: "k", reasoning_effort: "low" };

  test("of OpenAI, both for models its client knows to reason and for others", async () => {
    for (const model of ["gpt-5.4-effort", "other-effort"]) {
      const body = await asked(`openai:${model}`, (url) =>
        registerProviderProfile(`openai:${model}`, {
          init_kwargs: { ...given, configuration: { baseURL: `${url}/v1` } },
        }),
      );
      expect(body.reasoning).toEqual({ effort: "low" });
      await server?.close();
    }
  });

  test("of a server that speaks OpenAI's protocol", async () => {
    const body = await asked("openrouter:z/effort", (url) =>
      registerProviderProfile("openrouter:z/effort", { init_kwargs: { ...given, base_url: `${url}/v1` } }),
    );
    expect(body.reasoning_effort).toBe("low");
  });

  test("of Anthropic", async () => {
    const body = await asked("anthropic:claude-effort", (url) =>
      registerProviderProfile("anthropic:claude-effort", { init_kwargs: { ...given, base_url: url } }),
    );
    expect(body.output_config).toEqual({ effort: "low" });
  });
});

test.each(
  MODEL_PROVIDERS.filter(({ name }) => name !== "google-vertexai-web").map((one) => [one.name, one] as const),
)(
  "%s is in the documentation with its package, its variable and its address",
  (name, { packages, keys, baseUrl, isLocal }) => {
    const guide = readFileSync(new URL("../../../../../docs/models.md", import.meta.url), "utf8");
    const row = guide.split("\n").find((line) => {
      const [, names = ""] = line.split("|");
      return [...names.matchAll(/`([\w-]+)`/g)].some(([, one = ""]) => providerName(one) === name);
    });
    const facts = [
      ...packages.map((one) => one.package),
      ...(isLocal ? [] : keys.slice(0, 1)),
      baseUrl ?? "",
    ];
    for (const fact of facts) expect(row).toContain(fact);
  },
);
