/** The answering model is chosen while the agent runs. */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware, initChatModel } from "langchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import {
  compactingAgent,
  compactionOf,
  countTokens,
  strictModel,
  summariser,
  talk,
  thread,
} from "../../context/fixtures/agents-for-tests.ts";
import { type ProviderServer, providerServer } from "../../context/fixtures/provider-server-for-tests.ts";
import { createModelRetryMiddleware } from "../../middleware/model-retry.ts";
import { callTool, say } from "../../testing/index.ts";
import { addProviderOptions } from "../providers/provider-options.ts";

let server: ProviderServer;
let limited = 0;
beforeAll(async () => {
  server = await providerServer({
    answer: ({ api }) => {
      limited -= 1;
      return limited >= 0 ? { status: 429, headers: { "retry-after": "0.5" } } : { text: `I am ${api}.` };
    },
  });
  addProviderOptions("anthropic", { apiKey: "key", anthropicApiUrl: server.url });
  addProviderOptions("openai", { apiKey: "key", configuration: { baseURL: `${server.url}/v1` } });
  addProviderOptions("google-genai", { apiKey: "key", baseUrl: server.url });
});
afterAll(() => server.close());

const go = () => ({ messages: [new HumanMessage("Go.")] });
const contextSchema = z.object({ model: z.string() });

/** As guides show it: the request goes on with another model. */
const chosen = (pick: (name: string) => unknown) =>
  createMiddleware({
    name: "chosen",
    contextSchema,
    wrapModelCall: async (request, handler) =>
      handler({ ...request, model: (await pick(request.runtime.context.model)) as never }),
  });

const NAMES = {
  anthropic: "anthropic:claude-sonnet-4-5",
  openai: "openai:gpt-5.4",
  gemini: "google-genai:gemini-2.5-pro",
};

const PICKS: Readonly<Record<string, (name: string) => unknown>> = {
  "by name": (name) => name,
  "as a model": (name) =>
    initChatModel(name, {
      apiKey: "key",
      ...(name.startsWith("anthropic") && { anthropicApiUrl: server.url }),
      ...(name.startsWith("openai") && {
        useResponsesApi: true,
        configuration: { baseURL: `${server.url}/v1` },
      }),
      ...(name.startsWith("google") && { baseUrl: server.url }),
    }),
};

describe.each(Object.entries(PICKS))("the context chooses a model %s", (_, pick) => {
  test("per run, on one thread, each with what its provider needs", async () => {
    const agent = createDeepAgent({
      model: NAMES.openai,
      contextSchema,
      checkpointer: new MemorySaver(),
      middleware: [chosen(pick)],
    });
    const start = server.requests.length;
    const words: unknown[] = [];
    for (const model of [NAMES.openai, NAMES.anthropic, NAMES.gemini, NAMES.anthropic, NAMES.openai])
      words.push((await agent.invoke(go(), { ...thread(), context: { model } })).messages.at(-1)?.text);
    expect(words).toEqual(
      ["responses", "anthropic", "gemini", "anthropic", "responses"].map((api) => `I am ${api}.`),
    );
    expect(server.refusals).toEqual([]);
    const sent = server.requests.slice(start).map(({ body }) => JSON.stringify(body));
    expect(sent.map((text) => /"(cache_control)"/.exec(text)?.[1])).toEqual([
      undefined,
      "cache_control",
      undefined,
      "cache_control",
      undefined,
    ]);
  });
});

test("a configurable model is the one that the run says", async () => {
  const model = await initChatModel(NAMES.openai, {
    apiKey: "key",
    anthropicApiUrl: server.url,
    configuration: { baseURL: `${server.url}/v1` },
    configurableFields: ["model", "modelProvider"],
  });
  const agent = createDeepAgent({ model: model as never, checkpointer: new MemorySaver() });
  const run = async (configurable: object) =>
    (await agent.invoke(go(), { configurable: { thread_id: "t", ...configurable } })).messages.at(-1)?.text;
  expect(await run({})).toMatch(/I am (chat|responses)\./);
  expect(await run({ model: "claude-sonnet-4-5", modelProvider: "anthropic" })).toBe("I am anthropic.");
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("cache_control");
  expect(server.refusals).toEqual([]);
});

test("a name that stands for no model is an error that says so", async () => {
  const agent = createDeepAgent({ model: NAMES.openai, contextSchema, middleware: [chosen((name) => name)] });
  await expect(agent.invoke(go(), { context: { model: "nowhere:x" } })).rejects.toMatchObject({
    code: "MODEL_NOT_AVAILABLE",
  });
});

test("agents with one name for their models share what the provider said about waiting", async () => {
  let retries = 0;
  const onRetry = (): void => {
    retries += 1;
  };
  const quick = () => createModelRetryMiddleware({ firstWait: 0.001, onRetry });
  const agents = [0, 1].map(() => createDeepAgent({ model: NAMES.anthropic, middleware: [quick()] }));
  const start = server.requests.length;
  limited = 1;
  const began = performance.now();
  const first = agents[0]?.invoke(go());
  await until(() => retries === 1);
  await Promise.all([first, agents[1]?.invoke(go())]);
  expect(performance.now() - began).toBeGreaterThan(400);
  expect(server.requests.slice(start).map(({ status }) => status)).toEqual([429, 200, 200]);
});

test("room is measured for the model that answers: a smaller one is not asked too much again and again", async () => {
  const script = ({ turn }: { turn: number }) =>
    turn < 40 ? callTool("talk", { words: 250 + turn }) : say("done");
  const small = strictModel(8000, script as never);
  let refused = 0;
  const agent = compactingAgent({
    model: strictModel(200_000, () => say("never asked")),
    summary: { model: summariser() },
    agent: {
      tools: [talk],
      middleware: [
        createMiddleware({
          name: "small",
          wrapModelCall: (request, handler) => {
            if (countTokens([request.systemMessage, ...request.messages], request.tools) > 8000) refused += 1;
            return handler({ ...request, model: small as never });
          },
        }),
      ],
    },
  });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("Talk.")] }, thread());
  expect(messages.at(-1)?.text).toBe("done");
  expect(messages.filter(AIMessage.isInstance)).toHaveLength(41);
  expect(await compactionOf(agent)).toBeDefined();
  expect(refused).toBeLessThanOrEqual(1);
});
