/** Another model goes on where one stopped: real clients, a server for each provider. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, modelFallbackMiddleware, toolStrategy } from "langchain";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { eventually, until } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from "../context/fixtures/provider-server-for-tests.ts";
import { APIS, EAGER_MODELS } from "../context/fixtures/provider-server-models-for-tests.ts";
import { ModelError } from "../loop/failures/model-error.ts";
import type { ModelFallback } from "../loop/model/model-fallback.ts";
import { callTool, fault, say, scriptedModel } from "../testing/index.ts";
import { createModelFallbackMiddleware } from "./model-fallback.ts";
import { createModelRetryMiddleware } from "./model-retry.ts";

const servers: ProviderServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

async function answering(answer: (asked: number) => ProviderAnswer): Promise<ProviderServer> {
  let asked = 0;
  const server = await providerServer({
    answer: () => {
      asked += 1;
      return answer(asked);
    },
  });
  servers.push(server);
  return server;
}

const go = () => ({ messages: [new HumanMessage("Go.")] });
const onThread = { configurable: { thread_id: "t" } };
const quick = (maxAttempts = 2) => createModelRetryMiddleware({ maxAttempts, firstWait: 0.001 });
const WRITE = {
  text: "I write.",
  calls: [{ name: "write_file", args: { file_path: "/a.txt", content: "alpha" } }],
};

const PAIRS = APIS.flatMap((from) => APIS.filter((to) => to !== from).map((to) => ({ from, to })));

describe("in the middle of a run", () => {
  test.concurrent.each(PAIRS)("$from fails, and $to goes on with the same history", async ({ from, to }) => {
    const first = await answering((asked) => (asked === 1 ? WRITE : { status: 429 }));
    const second = await answering(() => ({ text: "I went on." }));
    const seen: ModelFallback[] = [];
    const agent = createDeepAgent({
      model: EAGER_MODELS[from](first.url) as never,
      checkpointer: new MemorySaver(),
      middleware: [
        quick(),
        createModelFallbackMiddleware({
          models: [EAGER_MODELS[to](second.url) as never],
          onFallback: (fallback) => seen.push(fallback),
        }),
      ],
    });
    const { messages } = await agent.invoke(go(), onThread);
    expect(messages.at(-1)?.text).toBe("I went on.");
    expect(messages.filter(ToolMessage.isInstance)).toHaveLength(1);
    expect(first.requests.map(({ status }) => status)).toEqual([200, 429, 429]);
    expect([...first.refusals, ...second.refusals]).toEqual([]);
    expect(seen.map(({ failure }) => failure.kind)).toEqual(["rate"]);
    await agent.invoke(go(), onThread);
    expect(first.requests).toHaveLength(3);
    expect(second.requests).toHaveLength(2);
    expect(second.refusals).toEqual([]);
  });
});

const faults = { rate: fault.rateLimit(), server: fault.status(503), missing: fault.status(404) };

describe("which failures lead to another model", () => {
  test.each(Object.entries(faults))("%s does", async (_, thrown) => {
    const second = scriptedModel([say("second")]);
    const agent = createDeepAgent({
      model: scriptedModel([thrown], { loop: true }),
      middleware: [quick(), createModelFallbackMiddleware({ models: [second] })],
    });
    expect((await agent.invoke(go())).messages.at(-1)?.text).toBe("second");
  });

  test.each([fault.status(400), fault.status(401), new TypeError("a mistake")])(
    "%s does not",
    async (thrown) => {
      const second = scriptedModel([say("second")]);
      const agent = createDeepAgent({
        model: scriptedModel([thrown]),
        middleware: [quick(), createModelFallbackMiddleware({ models: [second] })],
      });
      await expect(agent.invoke(go())).rejects.toThrow();
      expect(second.callCount).toBe(0);
    },
  );

  test("one that is named in 'on' does, others then do not", async () => {
    const run = (thrown: Error) =>
      createDeepAgent({
        model: scriptedModel([thrown], { loop: true }),
        middleware: [
          quick(1),
          createModelFallbackMiddleware({ models: [scriptedModel([say("second")])], on: ["auth"] }),
        ],
      }).invoke(go());
    expect((await run(fault.status(401))).messages.at(-1)?.text).toBe("second");
    await expect(run(fault.status(503))).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
  });

  test("a model that says nothing is left for another", async () => {
    // The second has the same time, which a busy machine may need.
    await eventually(async () => {
      const agent = createDeepAgent({
        model: scriptedModel([fault.never()]),
        middleware: [
          createModelRetryMiddleware({ maxAttempts: 1, idleTimeout: 0.2 }),
          createModelFallbackMiddleware({ models: [scriptedModel([say("second")])] }),
        ],
      });
      expect((await agent.invoke(go())).messages.at(-1)?.text).toBe("second");
    });
  });
});

describe("the order", () => {
  test("whoever did not answer rests, and is asked again afterwards", async () => {
    const resting = (rest: number) => {
      const models = [scriptedModel([say("one"), say("two")])];
      const agent = createDeepAgent({
        model: scriptedModel([fault.status(503), say("first again")]),
        middleware: [createModelFallbackMiddleware({ models, rest }), quick(1)],
      });
      return async () => (await agent.invoke(go())).messages.at(-1)?.text;
    };
    const long = resting(600);
    expect([await long(), await long()]).toEqual(["one", "two"]);
    const short = resting(0.05);
    expect(await short()).toBe("one");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await short()).toBe("first again");
  });

  test("when nobody answers, the error holds what each of them said", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([fault.status(503)], { loop: true }),
      checkpointer: new MemorySaver(),
      middleware: [
        quick(2),
        createModelFallbackMiddleware({
          models: [scriptedModel([fault.rateLimit()], { loop: true }), "nowhere:to-be-found"],
        }),
      ],
    });
    const error: ModelError = await agent.invoke(go(), onThread).then(
      () => expect.fail("somebody answered"),
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(ModelError);
    expect(error.message).toMatch(
      /^None of 3 models answered: .*server, .*rate, nowhere:to-be-found: missing/,
    );
    expect((error.cause as AggregateError).errors.map(({ code }) => code)).toEqual([
      "MODEL_UNAVAILABLE",
      "MODEL_RATE_LIMIT",
      "MODEL_NOT_AVAILABLE",
    ]);
  });

  test("a stop ends it: nobody else is asked", async () => {
    const second = scriptedModel([say("second")]);
    const controller = new AbortController();
    const first = scriptedModel([fault.never()]);
    const agent = createDeepAgent({
      model: first,
      middleware: [createModelFallbackMiddleware({ models: [second] })],
    });
    const ended = agent.invoke(go(), { signal: controller.signal });
    await until(() => first.callCount === 1);
    controller.abort();
    await expect(ended).rejects.toThrow();
    expect(second.callCount).toBe(0);
  });
});

test("a structured answer is asked for as the model that answers understands it", async () => {
  const first = await answering(() => ({ status: 503 }));
  const answer = toolStrategy(z.object({ city: z.string() }));
  const second = scriptedModel([callTool(answer[0]?.name ?? "", { city: "Bern" })]);
  const agent = createDeepAgent({
    model: EAGER_MODELS.responses(first.url) as never,
    responseFormat: answer,
    middleware: [quick(1), createModelFallbackMiddleware({ models: [second] })],
  });
  const result = await agent.invoke(go());
  expect(second.calls[0]?.tools.length).toBeGreaterThan(0);
  expect(result.structuredResponse).toEqual({ city: "Bern" });
});

test("a subagent has its own: the child goes on with another model, the parent notices nothing", async () => {
  const first = scriptedModel([callTool("ls", { path: "/" }), fault.status(529)]);
  const second = scriptedModel([say("the child's answer")]);
  const parent = scriptedModel([
    callTool("task", { description: "Look.", subagent_type: "looker" }),
    say("done"),
  ]);
  const agent = createDeepAgent({
    model: parent,
    subagents: [
      {
        name: "looker",
        description: "Looks.",
        systemPrompt: "Look.",
        model: first,
        middleware: [quick(1), createModelFallbackMiddleware({ models: [second] })],
      },
    ],
  });
  const { messages } = await agent.invoke(go());
  expect(messages.find(ToolMessage.isInstance)?.text).toContain("the child's answer");
  expect([first.callCount, second.callCount, parent.callCount]).toEqual([2, 1, 2]);
});

test("in LangChain's own loop it works as well", async () => {
  const second = scriptedModel([say("second")]);
  const agent = createAgent({
    model: scriptedModel([fault.status(503)], { loop: true }),
    middleware: [createModelFallbackMiddleware({ models: [second] }), quick(3)],
  });
  expect((await agent.invoke(go())).messages.at(-1)?.text).toBe("second");
});

test("LangChain's own fallback is taken too, around our retries", async () => {
  const first = scriptedModel([fault.status(503)], { loop: true });
  const second = scriptedModel([say("second")]);
  const agent = createDeepAgent({ model: first, middleware: [modelFallbackMiddleware(second), quick(3)] });
  expect((await agent.invoke(go())).messages.at(-1)?.text).toBe("second");
  expect(first.callCount).toBe(3);
});

test.each([
  { models: [] },
  {},
  { models: ["a:b"], rest: -1 },
  { models: ["a:b"], on: ["bad"] },
  { models: [5] },
])("%j is refused", (options) => {
  expect(() => createModelFallbackMiddleware(options as never)).toThrow(/option|failure/);
});
