import { priceOf } from "deepwright/internal";
import { describe, expect, it } from "vitest";
import { CommandError } from "../command-error.ts";
import { KEYED_PROVIDERS } from "../default-models.ts";
import { EXIT } from "../exit-codes.ts";
import { choiceLine } from "./choice.ts";
import { chooseModel, type ModelWish } from "./choose.ts";
import type { Endpoints } from "./endpoints.ts";

interface World {
  readonly ollama?: Record<string, readonly string[]>;
  readonly openai?: Record<string, readonly string[]>;
}

function endpointsOf({ ollama = {}, openai = {} }: World): Endpoints {
  return { ollama: async (url) => ollama[url], openai: async (url) => openai[url] };
}

function choose(wish: ModelWish, environment: Record<string, string>, world: World = {}) {
  return chooseModel(wish, environment, endpointsOf(world));
}

const LOCAL = "http://127.0.0.1:11434";
const KEYS = { ANTHROPIC_API_KEY: "a-key", OPENAI_API_KEY: "o-key", GOOGLE_API_KEY: "g-key" };

/** Each row: wish, environment, servers, the line the user sees. */
const ROWS: readonly (readonly [string, ModelWish, Record<string, string>, World, string])[] = [
  [
    "--model before all else",
    { model: "google:gemini-x" },
    { ...KEYS, DEEPWRIGHT_MODEL: "openai:x" },
    {},
    "Model: google:gemini-x (--model)",
  ],
  [
    "DEEPWRIGHT_MODEL before keys",
    {},
    { ...KEYS, DEEPWRIGHT_MODEL: "openai:gpt-x" },
    {},
    "Model: openai:gpt-x (DEEPWRIGHT_MODEL)",
  ],
  ["a provider alone means its default", { model: "openai" }, KEYS, {}, "Model: openai:gpt-5.2 (--model)"],
  [
    "Anthropic's key first",
    {},
    KEYS,
    { ollama: { [LOCAL]: ["qwen3"] } },
    "Model: anthropic:claude-sonnet-4-6 (ANTHROPIC_API_KEY is set)",
  ],
  [
    "then OpenAI's",
    {},
    { OPENAI_API_KEY: "o", GOOGLE_API_KEY: "g" },
    {},
    "Model: openai:gpt-5.2 (OPENAI_API_KEY is set)",
  ],
  [
    "then Google's",
    {},
    { ANTHROPIC_API_KEY: "", GOOGLE_API_KEY: "g" },
    {},
    "Model: google:gemini-3.1-pro-preview (GOOGLE_API_KEY is set)",
  ],
  [
    "then Ollama where it always is",
    {},
    {},
    { ollama: { [LOCAL]: ["qwen3", "llama"] } },
    `Model: ollama:qwen3 (Ollama answers at ${LOCAL})`,
  ],
  [
    "or where OLLAMA_HOST says",
    {},
    { OLLAMA_HOST: "box:9" },
    { ollama: { "http://box:9": ["qwen3"] } },
    "Model: ollama:qwen3 (Ollama answers at http://box:9)",
  ],
  [
    "then OPENAI_BASE_URL without a key",
    {},
    { OPENAI_BASE_URL: "http://localhost:8080/v1/" },
    { openai: { "http://localhost:8080/v1": ["local"] } },
    "Model: openai:local (no key found, OPENAI_BASE_URL is http://localhost:8080/v1)",
  ],
  [
    "--base-url alone is an OpenAI-compatible server, whatever keys there are",
    { baseUrl: "http://localhost:8080/v1" },
    KEYS,
    { openai: { "http://localhost:8080/v1": ["local"] } },
    "Model: openai:local (--base-url is http://localhost:8080/v1)",
  ],
  [
    "DEEPWRIGHT_BASE_URL likewise",
    {},
    { DEEPWRIGHT_BASE_URL: "http://localhost:8080/v1" },
    { openai: { "http://localhost:8080/v1": ["local"] } },
    "Model: openai:local (DEEPWRIGHT_BASE_URL is http://localhost:8080/v1)",
  ],
  [
    "an address without /v1 is completed where the models are found there",
    { baseUrl: "http://localhost:8080" },
    {},
    { openai: { "http://localhost:8080/v1": ["local"] } },
    "Model: openai:local (--base-url is http://localhost:8080/v1)",
  ],
  [
    "also for a model that is named",
    { model: "openai:x", baseUrl: "http://localhost:8080/" },
    {},
    { openai: { "http://localhost:8080/v1": ["local"] } },
    "Model: openai:x (--model, at http://localhost:8080/v1)",
  ],
  [
    "settings count less than variables",
    { settings: { model: { value: "openai:set", source: "model in x.json" } } },
    { ...KEYS, DEEPWRIGHT_MODEL: "openai:env" },
    {},
    "Model: openai:env (DEEPWRIGHT_MODEL)",
  ],
  [
    "a password in an address is not shown",
    { model: "anthropic:x", baseUrl: "http://me:pass@proxy/v1" },
    KEYS,
    {},
    "Model: anthropic:x (--model, at http://proxy/v1)",
  ],
  [
    "another provider is handed on",
    { model: "mistralai:mistral-large" },
    { MISTRAL_API_KEY: "key" },
    {},
    "Model: mistralai:mistral-large (--model)",
  ],
  [
    "its address without a path gets /v1, too",
    { model: "openrouter:a/b", baseUrl: "http://localhost:8080" },
    { OPENROUTER_API_KEY: "key" },
    { openai: { "http://localhost:8080/v1": ["a/b"] } },
    "Model: openrouter:a/b (--model, at http://localhost:8080/v1)",
  ],
  [
    "a server on this machine that is named alone means the first of its models",
    { model: "lmstudio" },
    {},
    { openai: { "http://127.0.0.1:1234/v1": ["qwen3-8b", "other"] } },
    "Model: lmstudio:qwen3-8b (--model)",
  ],
  [
    "without anything the offline model, and it says so",
    {},
    {},
    {},
    "No model key found: using the offline model. It is not an LLM: it follows a fixed routine with the tools.",
  ],
  [
    "the offline model can be asked for",
    { model: "offline" },
    KEYS,
    {},
    "Asked for by --model: using the offline model. It is not an LLM: it follows a fixed routine with the tools.",
  ],
];

describe("chooseModel", () => {
  it.each(ROWS)("%s", async (_, wish, environment, world, line) => {
    expect(choiceLine(await choose(wish, environment, world))).toBe(line);
  });

  it("gives a server named by --base-url OpenAI's key only", async () => {
    const keys = { ANTHROPIC_API_KEY: "a-key", GOOGLE_API_KEY: "g-key" };
    const world = { openai: { "http://localhost:1/v1": ["local"] } };
    expect(await choose({ baseUrl: "http://localhost:1/v1" }, keys, world)).not.toHaveProperty(
      "apiKey",
      expect.anything(),
    );
    const withKey = await choose({ baseUrl: "http://localhost:1/v1" }, KEYS, world);
    expect(withKey).toHaveProperty("apiKey", "o-key");
  });

  it("a named server that lists no models is refused, and no model of a provider is guessed", async () => {
    const error = await choose({ baseUrl: "http://localhost:1" }, KEYS).catch((caught: unknown) => caught);
    expect((error as CommandError).message).toBe(
      "--base-url is http://localhost:1, which does not say which models it has.",
    );
    expect((error as CommandError).hint).toContain(
      "http://localhost:1/models and http://localhost:1/v1/models",
    );
  });

  it("takes OpenAI's own address for what it is", async () => {
    const choice = await choose({}, { OPENAI_API_KEY: "o", OPENAI_BASE_URL: "https://api.openai.com/v1" });
    expect(choice).toMatchObject({ provider: "openai", baseUrl: undefined });
  });

  it.each([
    [{ model: "gpt-5.4" }, {}, "--model must be provider:model"],
    [{ model: ":x" }, {}, "--model must be provider:model"],
    [{ model: "openai:" }, KEYS, "--model must be provider:model"],
    [{}, { DEEPWRIGHT_MODEL: "nonsense" }, "DEEPWRIGHT_MODEL must be provider:model"],
    [{ model: "foo:bar" }, KEYS, "--model names an unknown provider: 'foo'"],
    [{ model: "constructor:x" }, {}, "unknown provider: 'constructor'"],
    [{ baseUrl: "localhost:80" }, {}, "--base-url must be an http or https address"],
    [{ baseUrl: "file:///etc/passwd" }, {}, "--base-url must be an http or https address"],
  ])("%o with %o is wrong usage", async (wish, environment, message) => {
    const error = await choose(wish, environment as Record<string, string>).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(CommandError);
    expect((error as CommandError).message).toContain(message);
    expect((error as CommandError).exitCode).toBe(EXIT.usage);
  });

  it("an unknown provider is answered with the known ones, and no package is made up", async () => {
    const error = await choose({ model: "foo:bar" }, {}).catch((caught: unknown) => caught);
    const { hint } = error as CommandError;
    expect(hint).toContain("anthropic, openai, google (google-genai) and ollama");
    expect(hint).toContain("mistralai");
    expect(hint).not.toContain("@langchain");
  });

  it("says which key is missing, and that Ollama does not answer", async () => {
    await expect(choose({ model: "anthropic:x" }, {})).rejects.toThrow("ANTHROPIC_API_KEY is not set");
    await expect(choose({ model: "groq:x" }, {})).rejects.toMatchObject({
      message: "--model asks for groq, but GROQ_API_KEY is not set.",
      hint: expect.stringContaining("deepwright login groq"),
    });
    for (const model of ["ollama", "vllm"])
      await expect(choose({ model }, {})).rejects.toThrow("does not answer");
  });

  it.each(KEYED_PROVIDERS)(
    "the price of $provider:$model is known, so its cost can be limited",
    ({ model }) => expect(priceOf(model)).toBeDefined(),
  );
});
