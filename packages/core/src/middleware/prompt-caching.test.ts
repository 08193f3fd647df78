import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { type ProviderServer, providerServer } from "../context/fixtures/provider-server-for-tests.ts";
import { MODELS } from "../context/fixtures/provider-server-models-for-tests.ts";
import { createPromptCachingMiddleware } from "./prompt-caching.ts";

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const words = tool(({ count }) => "word ".repeat(count), {
  name: "words",
  description: "Says words.",
  schema: z.object({ count: z.number() }),
});

async function serve(turns = 6): Promise<ProviderServer> {
  server = await providerServer({
    answer: ({ turn }) =>
      turn % turns === turns - 1
        ? { text: "Done." }
        : {
            calls: [
              { name: "words", args: { count: 800 } },
              { name: "words", args: { count: 5 } },
            ],
          },
  });
  return server;
}

const ask = { messages: [new HumanMessage("Go.")] };

describe("the cache of Anthropic", () => {
  test("gives back all that the turn before had sent", async () => {
    const { url, requests, refusals } = await serve();
    const agent = createDeepAgent({ model: MODELS.anthropic(url), tools: [words] });
    await agent.invoke(ask);
    expect(refusals).toEqual([]);
    const totals = requests.map(({ counted }) => counted.total);
    expect(requests.map(({ counted }) => counted.read)).toEqual([0, ...totals.slice(0, -1)]);
  });

  test("does so also in LangChain's own loop", async () => {
    const { url, requests, refusals } = await serve();
    const agent = createAgent({
      model: MODELS.anthropic(url),
      tools: [words],
      systemPrompt: "rule ".repeat(1100),
      middleware: [createPromptCachingMiddleware()],
    });
    await agent.invoke(ask);
    expect(refusals).toEqual([]);
    const totals = requests.map(({ counted }) => counted.total);
    expect(requests.map(({ counted }) => counted.read)).toEqual([0, ...totals.slice(0, -1)]);
  });

  test("a turn of fifty parallel calls does not lose it", async () => {
    server = await providerServer({
      answer: ({ turn }) =>
        turn === 3
          ? { text: "Done." }
          : { calls: Array.from({ length: 50 }, () => ({ name: "words", args: { count: 40 } })) },
    });
    const agent = createDeepAgent({
      model: MODELS.anthropic(server.url),
      tools: [words],
      middleware: [createPromptCachingMiddleware()],
    });
    await agent.invoke(ask);
    const totals = server.requests.map(({ counted }) => counted.total);
    expect(server.requests.map(({ counted }) => counted.read)).toEqual([0, ...totals.slice(0, -1)]);
  });

  test("is not asked for when a proxy refuses markers", async () => {
    const { url, requests } = await serve();
    const agent = createDeepAgent({
      model: MODELS.anthropic(url),
      tools: [words],
      middleware: [createPromptCachingMiddleware({ anthropic: false })],
    });
    await agent.invoke(ask);
    expect(JSON.stringify(requests.map(({ body }) => body))).not.toContain("cache_control");
  });
});

describe("the key for OpenAI", () => {
  test.each(["chat", "responses"] as const)("%s: is the same for all requests of a thread", async (api) => {
    const { url, requests } = await serve();
    const agent = createDeepAgent({
      model: MODELS[api](url),
      tools: [words],
      checkpointer: new MemorySaver(),
      middleware: [createPromptCachingMiddleware({ promptCacheKey: true })],
    });
    for (const thread_id of ["one", "two"]) await agent.invoke(ask, { configurable: { thread_id } });
    const keys = requests.map(({ body }) => body.prompt_cache_key);
    expect(keys).toEqual([...Array(6).fill(keys[0]), ...Array(6).fill(keys[6])]);
    expect(keys[0]).toMatch(/^deepwright-/);
    expect(keys[6]).not.toBe(keys[0]);
  });

  test("is sent in LangChain's own loop too", async () => {
    const { url, requests } = await serve();
    const agent = createAgent({
      model: MODELS.chat(url),
      tools: [words],
      checkpointer: new MemorySaver(),
      middleware: [createPromptCachingMiddleware({ promptCacheKey: true })],
    });
    await agent.invoke(ask, { configurable: { thread_id: "one" } });
    expect(new Set(requests.map(({ body }) => body.prompt_cache_key))).toEqual(
      new Set([expect.stringMatching(/^deepwright-/)]),
    );
  });

  test("is not sent to a server that is not OpenAI's", async () => {
    const { url, requests } = await serve();
    const agent = createDeepAgent({
      model: MODELS.chat(url),
      tools: [words],
      checkpointer: new MemorySaver(),
      middleware: [createPromptCachingMiddleware()],
    });
    await agent.invoke(ask, { configurable: { thread_id: "one" } });
    expect(requests.some(({ body }) => "prompt_cache_key" in body)).toBe(false);
  });
});

test.each(["anthropic", "bedrock", "promptCacheKey"])("'%s' is true or false, and no text", (name) => {
  expect(() => createPromptCachingMiddleware({ [name]: "no" } as never)).toThrow(
    `The option '${name}' must be true or false.`,
  );
  expect(() => createPromptCachingMiddleware({ [name]: null })).not.toThrow();
});

test("an option that does not exist, or a ttl that does not, is refused", () => {
  expect(() => createPromptCachingMiddleware({ minutes: 5 } as never)).toThrow(/no option 'minutes'/);
  expect(() => createPromptCachingMiddleware({ ttl: "2h" as never })).toThrow(/must be "5m" or "1h", not 2h/);
});
