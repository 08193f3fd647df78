/** LangChain's own clients, a server of this machine that fails. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterAll, describe, expect, test } from "vitest";
import { eventually, until } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from "../context/fixtures/provider-server-for-tests.ts";
import { APIS, EAGER_MODELS } from "../context/fixtures/provider-server-models-for-tests.ts";
import { ModelError } from "../loop/failures/model-error.ts";
import type { ModelRetry } from "../loop/model/model-retry.ts";
import { fault, scriptedModel } from "../testing/index.ts";
import { createModelRetryMiddleware, type ModelRetryMiddlewareOptions } from "./model-retry.ts";

const servers: ProviderServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** Fails as told, once for each, and then answers. */
async function failing(...answers: readonly ProviderAnswer[]): Promise<ProviderServer> {
  let asked = 0;
  const server = await providerServer({
    answer: () => {
      const answer = answers[asked] ?? { text: "Here." };
      asked += 1;
      return answer;
    },
  });
  servers.push(server);
  return server;
}

const QUICK = { firstWait: 0.001 };
const go = () => ({ messages: [new HumanMessage("Go.")] });
const onThread = { configurable: { thread_id: "t" } };

function agentOf(model: unknown, options: ModelRetryMiddlewareOptions = {}, rest: object = {}) {
  const retries: ModelRetry[] = [];
  const agent = createDeepAgent({
    model: model as never,
    checkpointer: new MemorySaver(),
    middleware: [
      createModelRetryMiddleware({ ...QUICK, onRetry: (retry) => retries.push(retry), ...options }),
    ],
    ...rest,
  });
  return { agent, retries };
}

type Agent = ReturnType<typeof agentOf>["agent"];

const WAYS: Readonly<Record<string, (agent: Agent) => Promise<unknown>>> = {
  whole: (agent) => agent.invoke(go(), onThread),
  streamed: async (agent) => {
    for await (const _ of await agent.stream(go(), { ...onThread, streamMode: "messages" }));
  },
  "as events": async (agent) => {
    await (await agent.streamEvents(go(), { ...onThread, version: "v3" })).output;
  },
};

const MATRIX = APIS.flatMap((api) => Object.keys(WAYS).map((way) => ({ api, way }))).filter(
  ({ api, way }) => way !== "as events" || api === "anthropic" || api === "gemini",
);

async function run(agent: Agent, way: string): Promise<string | undefined> {
  await WAYS[way]?.(agent);
  return (await agent.getState(onThread)).values.messages.at(-1)?.text;
}

const failureIn = (promise: Promise<unknown>): Promise<ModelError> =>
  promise.then(
    () => expect.fail("it answered"),
    (error: ModelError) => error,
  );

const times = (count: number, answer: ProviderAnswer): ProviderAnswer[] => Array(count).fill(answer);

describe.concurrent.each(MATRIX)("$api, $way", ({ api, way }) => {
  test("R-17 429 without a word of when: five requests at most, whatever the client does by itself", async () => {
    const { url, requests } = await failing(...times(4, { status: 429 }));
    const { agent, retries } = agentOf(EAGER_MODELS[api](url));
    expect(await run(agent, way)).toBe("Here.");
    expect(requests.map(({ status }) => status)).toEqual([429, 429, 429, 429, 200]);
    expect(retries.map(({ attempt, failure }) => [attempt, failure.kind])).toEqual(
      [1, 2, 3, 4].map((attempt) => [attempt, "rate"]),
    );
  });

  test("R-17 Retry-After is waited for", async () => {
    const info = { error: { details: [{ "@type": "x/RetryInfo", retryDelay: "0.3s" }] } };
    const { url, requests } = await failing({ status: 429, headers: { "retry-after": "0.3" }, body: info });
    const { agent, retries } = agentOf(EAGER_MODELS[api](url));
    const start = performance.now();
    expect(await run(agent, way)).toBe("Here.");
    expect(performance.now() - start).toBeGreaterThanOrEqual(299);
    expect(requests).toHaveLength(2);
    expect(retries[0]?.failure).toEqual({ kind: "rate", status: 429, retryAfter: 300 });
    expect(retries[0]?.wait).toBeGreaterThanOrEqual(300);
  });

  test("R-18 500, 502, 503 and 529 in turn are asked again", async () => {
    const { url, requests } = await failing(...[500, 502, 503, 529].map((status) => ({ status })));
    const { agent } = agentOf(EAGER_MODELS[api](url));
    expect(await run(agent, way)).toBe("Here.");
    expect(requests.map(({ status }) => status)).toEqual([500, 502, 503, 529, 200]);
  });

  test("R-18 without an end: a typed error after five requests, and only the call is repeated afterwards", async () => {
    const write = { calls: [{ name: "write_file", args: { file_path: "/a.txt", content: "alpha" } }] };
    const { url, requests } = await failing(write, ...times(5, { status: 503 }));
    const { agent } = agentOf(EAGER_MODELS[api](url));
    const error = await failureIn(run(agent, way));
    expect(error).toMatchObject({ name: "ModelError", code: "MODEL_UNAVAILABLE", status: 503, attempts: 5 });
    expect(requests).toHaveLength(6);
    const { messages } = await agent.invoke(null, onThread);
    expect(requests).toHaveLength(7);
    expect(messages.at(-1)?.text).toBe("Here.");
    expect(messages.filter(ToolMessage.isInstance)).toHaveLength(1);
  });

  test("R-18 a connection that is reset is made again", async () => {
    const { url, requests } = await failing(...times(4, { fate: "reset" }));
    const { agent } = agentOf(EAGER_MODELS[api](url));
    expect(await run(agent, way)).toBe("Here.");
    expect(requests).toHaveLength(5);
  });

  test("R-18 nobody there: a typed error", async () => {
    const gone = await failing();
    await gone.close();
    servers.splice(servers.indexOf(gone), 1);
    const { agent, retries } = agentOf(EAGER_MODELS[api](gone.url));
    expect(await failureIn(run(agent, way))).toMatchObject({ code: "MODEL_UNAVAILABLE", attempts: 5 });
    expect(retries.map(({ failure }) => failure.kind)).toEqual(Array(4).fill("network"));
  });

  test.each([
    [400, "MODEL_REFUSED_REQUEST"],
    [401, "MODEL_AUTH"],
    [403, "MODEL_AUTH"],
    [404, "MODEL_NOT_AVAILABLE"],
  ])("R-19 %i is one request and %s", async (status, code) => {
    const { url, requests } = await failing({ status, body: { error: { message: "no" } } });
    const { agent } = agentOf(EAGER_MODELS[api](url));
    expect(await failureIn(run(agent, way))).toMatchObject({ code, status, attempts: 1 });
    expect(requests).toHaveLength(1);
    expect((await agent.invoke(null, onThread)).messages.at(-1)?.text).toBe("Here.");
    expect(requests).toHaveLength(2);
  });

  test("R-20 no answer: given up after the time, and asked again", async () => {
    const { url, requests } = await failing({ fate: "silent" });
    const { agent, retries } = agentOf(EAGER_MODELS[api](url), { idleTimeout: 2 });
    expect(await run(agent, way)).toBe("Here.");
    expect(retries[0]?.failure.kind).toBe("timeout");
    expect(requests).toHaveLength(1 + retries.length);
  });

  test("R-20 a reply that stops half-way: the same, and nothing of it is used", async () => {
    const half = {
      calls: [{ name: "write_file", args: { file_path: "/a.txt", content: "half".repeat(50) } }],
    };
    const { url, requests } = await failing(...times(2, { ...half, fate: "stalled" }));
    const { agent, retries } = agentOf(EAGER_MODELS[api](url), { idleTimeout: 2, maxAttempts: 2 });
    expect(await failureIn(run(agent, way))).toMatchObject({ code: "MODEL_TIMEOUT", attempts: 2 });
    expect(retries).toHaveLength(1);
    expect((await agent.getState(onThread)).values).toMatchObject({ files: {} });
    const { messages } = await agent.invoke(null, onThread);
    expect(messages.map(({ text }) => text)).toEqual(["Go.", "Here."]);
    expect(requests).toHaveLength(2 + retries.length);
  });

  test("R-20 a reply that breaks off half-way is asked for again, and nothing of it is used", async () => {
    const half = {
      calls: [{ name: "write_file", args: { file_path: "/a.txt", content: "half".repeat(50) } }],
    };
    const { url } = await failing(...times(2, { ...half, fate: "broken" }));
    const { agent } = agentOf(EAGER_MODELS[api](url));
    expect(await run(agent, way)).toBe("Here.");
    expect((await agent.getState(onThread)).values).toMatchObject({ files: {} });
  });
});

describe("a run that waits", () => {
  test("R-17 a Retry-After above the limit is not waited for: the error says when to come back", async () => {
    const { url, requests } = await failing({ status: 429, headers: { "retry-after": "3600" } });
    const { agent } = agentOf(EAGER_MODELS.anthropic(url));
    const error = await failureIn(agent.invoke(go(), onThread));
    expect(error).toMatchObject({ code: "MODEL_RATE_LIMIT", attempts: 1 });
    expect(error.retryAt?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
    expect(error.message).toContain(error.retryAt?.toISOString());
    expect(requests).toHaveLength(1);
  });

  test("ends at once when it is stopped, while it waits and while it hears nothing", async () => {
    const limited = { status: 429, headers: { "retry-after": "50" } };
    for (const [api, answer] of [
      ["anthropic", limited],
      ["anthropic", { fate: "silent" }],
      ["gemini", { fate: "silent" }],
    ] as const) {
      const { url, requests } = await failing(...times(5, answer));
      const { agent } = agentOf(EAGER_MODELS[api](url));
      const controller = new AbortController();
      const ended = failureIn(agent.invoke(go(), { ...onThread, signal: controller.signal }));
      await until(() => requests.length === 1);
      controller.abort();
      expect(await ended).not.toBeInstanceOf(ModelError);
      expect(requests).toHaveLength(1);
    }
  });

  test("keeps others of the same model waiting: sixteen calls, one limit", async () => {
    const { url, requests } = await failing({ status: 429, headers: { "retry-after": "0.5" } });
    const model = EAGER_MODELS.anthropic(url);
    const [first, ...others] = Array.from({ length: 16 }, () => agentOf(model, { jitter: true }));
    const start = performance.now();
    const answers = [first?.agent.invoke(go(), onThread)];
    await until(() => first?.retries.length === 1);
    answers.push(...others.map(({ agent }) => agent.invoke(go(), onThread)));
    await until(() => requests.length > 1);
    expect(performance.now() - start).toBeGreaterThan(400);
    const done = await Promise.all(answers);
    expect(done.map((state) => state?.messages.at(-1)?.text)).toEqual(Array(16).fill("Here."));
    expect(requests.map(({ status }) => status)).toEqual([429, ...Array(16).fill(200)]);
  });

  test.each(["streamed", "as events"])("R-20 a reply that comes slowly is no silence, %s", async (way) => {
    // A busy machine may be silent for a second by itself.
    await eventually(async () => {
      const { url, requests } = await failing({ text: "Slowly.", fate: "slow" });
      const { agent, retries } = agentOf(EAGER_MODELS.anthropic(url), { idleTimeout: 1 });
      const start = performance.now();
      expect(await run(agent, way)).toBe("Slowly.");
      expect(performance.now() - start).toBeGreaterThan(1500);
      expect([retries.length, requests.length]).toEqual([0, 1]);
    });
  });

  test("R-20 the first piece may have a limit of its own", async () => {
    await eventually(async () => {
      const { url } = await failing({ fate: "silent" }, { text: "Slowly.", fate: "slow" });
      const { agent, retries } = agentOf(EAGER_MODELS.anthropic(url), { connectTimeout: 1, idleTimeout: 60 });
      expect(await run(agent, "streamed")).toBe("Slowly.");
      expect(retries.map(({ failure }) => failure.kind)).toEqual(["timeout"]);
    });
  });
});

describe("what is not repeated", () => {
  test("a request that is too long, which others shorten", async () => {
    const model = scriptedModel([fault.contextOverflow()], { loop: true });
    const { agent, retries } = agentOf(model);
    await expect(agent.invoke(go(), onThread)).rejects.toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(retries).toEqual([]);
  });

  test("a mistake in a client", async () => {
    const model = scriptedModel([new TypeError("x is not a function")]);
    const { agent } = agentOf(model);
    await expect(agent.invoke(go(), onThread)).rejects.toThrow(TypeError);
    expect(model.callCount).toBe(1);
  });

  test("anything, when it is turned off: the client does what it does", async () => {
    const model = scriptedModel([fault.status(503)], { loop: true });
    const agent = createDeepAgent({ model, middleware: [{ ModelRetryMiddleware: false }] });
    await expect(agent.invoke(go())).rejects.toMatchObject({ name: "ProviderError", status: 503 });
    expect(model.callCount).toBe(1);
  });
});

describe("in LangChain's own loop", () => {
  test.each(APIS)("%s is asked five times at most, and no more once it answered", async (api) => {
    const { url, requests } = await failing(...times(4, { status: 503 }));
    const middleware = createModelRetryMiddleware(QUICK);
    const agent = createAgent({ model: EAGER_MODELS[api](url) as never, middleware: [middleware] });
    expect((await agent.invoke(go())).messages.at(-1)?.text).toBe("Here.");
    expect(requests).toHaveLength(5);
  });
});

describe("the options", () => {
  test.each([
    { maxAttempts: 0 },
    { maxAttempts: 1.5 },
    { maxWait: -1 },
    { idleTimeout: 0 },
    { connectTimeout: "1" },
    { jitter: 1 },
    { onRetry: "x" },
    { retries: 3 },
  ])("%j are refused", (options) => {
    expect(() => createModelRetryMiddleware(options as never)).toThrow(/option/);
  });
});
