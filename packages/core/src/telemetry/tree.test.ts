/** Spans over a tree of agents: subagents, agents in tools, graphs that are not ours, and the user's own spans. */
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { createAgent } from "langchain";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { anyTool, ask } from "../loop/fixtures/agents.ts";
import { createTelemetryMiddleware } from "../middleware/telemetry.ts";
import { taskCall, tasks } from "../subagents/children-for-tests.ts";
import { callTool, type Script, say, scriptedModel } from "../testing/index.ts";
import { recordSpans, type Spans } from "./spans-for-tests.ts";

let spans: Spans;

beforeEach(() => {
  spans = recordSpans();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterEach(() => context.disable());

type Options = CreateDeepAgentParams<any>;

function agentOf(options: Options): ReturnType<typeof createDeepAgent> {
  return createDeepAgent({ systemPrompt: { base: "" }, ...options }) as never;
}

function watched(script: Script, options: Partial<Options> = {}): ReturnType<typeof createDeepAgent> {
  const telemetry = createTelemetryMiddleware({ tracerProvider: spans.provider });
  const model = scriptedModel(script, { modelName: "outer" });
  return agentOf({ name: "boss", model, ...options, middleware: [telemetry] } as Options);
}

const noop = anyTool("noop", () => "done");

function member(name: string, script: Script, more: object = {}) {
  const model = scriptedModel(script, { modelName: name });
  return { name, description: "Works.", systemPrompt: "Work.", model, tools: [noop], ...more };
}

const TREE = `
invoke_agent boss
  chat outer
  execute_tool task
    invoke_agent one
      chat one
      execute_tool noop
      chat one
  chat outer`.trimStart();

test.each([
  ["with a context manager", true],
  ["without one", false],
])(
  "a subagent without the middleware has its spans inside the call that started it: %s",
  async (_, manages) => {
    if (!manages) context.disable();
    const one = member("one", [callTool("noop"), say("found")]);
    await watched([callTool("task", taskCall("Go.", "one").args), say("ok")], {
      subagents: [one as never],
    }).invoke(ask());
    expect(spans.outline()).toBe(TREE);
    expect(spans.one("invoke_agent one").attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "one",
      "gen_ai.provider.name": "scripted",
      "deepwright.outcome": "done",
    });
    expect(new Set(spans.all().map((span) => span.spanContext().traceId)).size).toBe(1);
  },
);

test("parallel subagents are told apart by their calls", async () => {
  await watched([tasks(taskCall("A", "one", "call-1"), taskCall("B", "two", "call-2")), say("ok")], {
    subagents: [member("one", [say("1")]) as never, member("two", [callTool("noop"), say("2")]) as never],
  }).invoke(ask());
  const calls = new Map(
    spans
      .named("execute_tool task")
      .map((span) => [span.spanContext().spanId, span.attributes["gen_ai.tool.call.id"]]),
  );
  const parentOf = (name: string) => calls.get(spans.one(name).parentSpanContext?.spanId ?? "");
  expect([parentOf("invoke_agent one"), parentOf("invoke_agent two")]).toEqual(["call-1", "call-2"]);
});

test.each([
  ["with the config of the tool", true],
  ["without it", false],
])(
  "an agent in a tool, and in a tool of that one, is part of the trace: called %s",
  async (_, withConfig) => {
    const run = (agent: { invoke(input: object, config?: object): Promise<unknown> }, config: object) =>
      agent.invoke(ask(), withConfig ? config : undefined).then(() => "done");
    const deep = agentOf({ name: "deep", model: scriptedModel([say("3")], { modelName: "deep" }) });
    const middle = agentOf({
      name: "middle",
      model: scriptedModel([callTool("go_deeper"), say("2")], { modelName: "middle" }),
      tools: [anyTool("go_deeper", (__, config) => run(deep, config))],
    });
    const go = anyTool("go", (__, config) => run(middle, config));
    await watched([callTool("go"), say("1")], { tools: [go] }).invoke(ask());
    expect(spans.outline()).toBe(
      `
invoke_agent boss
  chat outer
  execute_tool go
    invoke_agent middle
      chat middle
      execute_tool go_deeper
        invoke_agent deep
          chat deep
      chat middle
  chat outer`.trimStart(),
    );
  },
);

test("a fork, which has the middleware of its agent, is inside the call too", async () => {
  const fork = { name: "copy", description: "Goes on.", mode: "fork" };
  const script: Script = ({ messages, turn }) =>
    turn === 0 ? tasks(taskCall("Look.", "copy")) : say(`after ${messages.length}`);
  await watched(script, { subagents: [fork as never] }).invoke(ask());
  expect(spans.outline()).toBe(
    `
invoke_agent boss
  chat outer
  execute_tool task
    invoke_agent copy
      chat outer
  chat outer`.trimStart(),
  );
});

test("spans of the user are inside of what they were begun in, and ours inside of theirs", async () => {
  const tracer = spans.provider.getTracer("user");
  const child = agentOf({ name: "child", model: scriptedModel([say("2")], { modelName: "child" }) });
  const go = anyTool("go", (_, config) =>
    tracer.startActiveSpan("lookup", async (span) => {
      await child.invoke(ask(), config);
      span.end();
      return "done";
    }),
  );
  const thinking = (): ReturnType<typeof say> => {
    tracer.startSpan("wire").end();
    return say("ok");
  };
  const script: Script = ({ turn }) => (turn === 0 ? callTool("go") : thinking());
  await tracer.startActiveSpan("request", async (span) => {
    await watched(script, { tools: [go] }).invoke(ask());
    span.end();
  });
  expect(spans.outline()).toBe(
    `
request
  invoke_agent boss
    chat outer
    execute_tool go
      lookup
        invoke_agent child
          chat child
    chat outer
      wire`.trimStart(),
  );
});

test("a compiled agent of LangChain as a subagent has spans of its run, its requests and its calls", async () => {
  const runnable = createAgent({
    model: scriptedModel([callTool("noop"), say("found")], { modelName: "other" }) as never,
    tools: [noop as never],
  });
  const foreign = { name: "foreign", description: "Works.", runnable };
  await watched([tasks(taskCall("Go.", "foreign")), say("ok")], { subagents: [foreign as never] }).invoke(
    ask(),
  );
  expect(spans.outline()).toBe(
    `
invoke_agent boss
  chat outer
  execute_tool task
    invoke_agent foreign
      chat other
      execute_tool noop
      chat other
  chat outer`.trimStart(),
  );
  expect(spans.named("chat other")[0]?.attributes).toMatchObject({
    "gen_ai.request.model": "other",
    "gen_ai.usage.output_tokens": expect.any(Number),
  });
});

test("a model that a tool asks itself has a span inside the call, once", async () => {
  const inner = scriptedModel([say("aside")], { modelName: "aside", check: false });
  const deep = anyTool("deep", async () => (await inner.invoke("hm")).text);
  const one = member("one", [callTool("deep"), say("found")], { tools: [deep] });
  await watched([tasks(taskCall("Go.", "one")), say("ok")], { subagents: [one as never] }).invoke(ask());
  const call = spans.one("execute_tool deep").spanContext().spanId;
  expect(spans.one("chat aside").parentSpanContext?.spanId).toBe(call);
});

test("an agent inside with telemetry of its own stays in the trace, and tells content only if both do", async () => {
  const own = createTelemetryMiddleware({
    tracerProvider: spans.provider,
    captureContent: true,
    attributes: { team: "inner" },
  });
  const model = scriptedModel([say("CANARY-inner")], { modelName: "child" });
  const child = agentOf({ name: "child", model, middleware: [own] });
  const go = anyTool("go", async (_, config) => {
    await child.invoke(ask(), config);
    return "done";
  });
  await watched([callTool("go"), say("ok")], { tools: [go] }).invoke(ask());
  const { attributes, parentSpanContext } = spans.one("invoke_agent child");
  expect(attributes.team).toBe("inner");
  expect(parentSpanContext?.spanId).toBe(spans.one("execute_tool go").spanContext().spanId);
  expect(spans.one("invoke_agent boss").attributes).not.toHaveProperty("team");
  expect(spans.text()).not.toContain("CANARY");
});

test("streams, with and without subgraphs, give the same spans as invoke", async () => {
  const one = () => member("one", [callTool("noop"), say("found")]);
  const agent = () =>
    watched([callTool("task", taskCall("Go.", "one").args), say("ok")], { subagents: [one() as never] });
  for await (const _ of await agent().stream(ask() as never, { streamMode: "custom", subgraphs: true }));
  expect(spans.outline()).toBe(TREE);
  spans = recordSpans();
  for await (const _ of agent().streamEvents(ask() as never, { version: "v2" }));
  expect(spans.outline()).toBe(TREE);
});

test("agents without the middleware write no span, also with a global provider", async () => {
  trace.setGlobalTracerProvider(spans.provider);
  try {
    await agentOf({ name: "plain", model: scriptedModel([say("ok")]) }).invoke(ask());
    expect(spans.all()).toEqual([]);
    const model = scriptedModel([say("ok")]);
    await agentOf({ name: "global", model, middleware: [createTelemetryMiddleware()] }).invoke(ask());
    expect(spans.outline()).toBe("invoke_agent global\n  chat scripted");
  } finally {
    trace.disable();
  }
});
