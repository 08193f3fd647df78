/** Content and end of single spans. */
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { context, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { createAgent } from "langchain";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { anyTool, ask, onThread } from "../loop/fixtures/agents.ts";
import { createModelRetryMiddleware } from "../middleware/model-retry.ts";
import { createTelemetryMiddleware, type TelemetryMiddlewareOptions } from "../middleware/telemetry.ts";
import { taskCall, tasks } from "../subagents/children-for-tests.ts";
import { callTool, fault, type Script, say, scriptedModel, type Turn } from "../testing/index.ts";
import { asTurn } from "../testing/turn.ts";
import { recordSpans, type Spans } from "./spans-for-tests.ts";

let spans: Spans;

beforeEach(() => {
  spans = recordSpans();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterEach(() => context.disable());

type Options = CreateDeepAgentParams<any>;
type Agent = {
  invoke(input: unknown, config?: object): Promise<any>;
  stream(input: unknown, config?: object): Promise<AsyncIterable<unknown>>;
};

function watched(
  script: Script,
  options: Partial<Options> = {},
  own: TelemetryMiddlewareOptions = {},
): Agent {
  const telemetry = createTelemetryMiddleware({ tracerProvider: spans.provider, ...own });
  const { middleware = [], ...rest } = options;
  return createDeepAgent({
    ...{ name: "boss", systemPrompt: { base: "" }, model: scriptedModel(script) },
    ...rest,
    middleware: [telemetry, ...middleware],
  } as Options) as never;
}

const noop = anyTool("noop", () => "done");

test("a request says who was asked, what came back and what it used", async () => {
  const usage = {
    input_tokens: 80,
    output_tokens: 20,
    total_tokens: 100,
    input_token_details: { cache_read: 50, cache_creation: 7 },
    output_token_details: { reasoning: 5 },
  };
  const model = scriptedModel([{ ...asTurn("hello"), usage }], { modelName: "grand-1" });
  await watched(
    [],
    { model, middleware: [] },
    { attributes: { "deployment.environment.name": "test" } },
  ).invoke(ask(), onThread("thread-7"));
  const chat = spans.one("chat grand-1");
  expect(chat.kind).toBe(SpanKind.CLIENT);
  expect(chat.status.code).toBe(SpanStatusCode.UNSET);
  expect(chat.attributes).toEqual({
    "deployment.environment.name": "test",
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.agent.name": "boss",
    "gen_ai.conversation.id": "thread-7",
    "gen_ai.request.model": "grand-1",
    "gen_ai.response.model": "grand-1",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 80,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.cache_read.input_tokens": 50,
    "gen_ai.usage.cache_creation.input_tokens": 7,
    "gen_ai.usage.reasoning.output_tokens": 5,
  });
  expect(spans.one("invoke_agent boss").attributes).toEqual({
    "deployment.environment.name": "test",
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "scripted",
    "gen_ai.agent.name": "boss",
    "gen_ai.conversation.id": "thread-7",
    "deepwright.outcome": "done",
  });
});

test("each attempt has a span of its own; what failed says why", async () => {
  const script = [fault.status(503), fault.rateLimit(), say("ok")];
  const retry = createModelRetryMiddleware({ firstWait: 0, jitter: false, maxWait: 60 });
  await watched(script, { middleware: [retry] }).invoke(ask());
  const attempts = spans.named("chat scripted");
  expect(attempts.map((span) => [span.status.code, span.attributes["error.type"]])).toEqual([
    [SpanStatusCode.ERROR, expect.stringMatching(/^5\d\d$/)],
    [SpanStatusCode.ERROR, "429"],
    [SpanStatusCode.UNSET, undefined],
  ]);
  expect(spans.one("invoke_agent boss").status.code).toBe(SpanStatusCode.UNSET);
});

test("a run that fails has the code of its error", async () => {
  const retry = createModelRetryMiddleware({ maxAttempts: 1 });
  const failing = watched([fault.rateLimit()], { middleware: [retry] });
  await expect(failing.invoke(ask())).rejects.toThrow();
  const { attributes, status } = spans.one("invoke_agent boss");
  expect(attributes["error.type"]).toBe("MODEL_RATE_LIMIT");
  expect(status).toEqual({ code: SpanStatusCode.ERROR });
});

test("an attempt that is given up ends when it is, though its client does not listen", async () => {
  let answer = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const script: Script = async ({ turn }) => {
    if (turn === 0) await late;
    return say("ok");
  };
  const retry = createModelRetryMiddleware({ idleTimeout: 0.2, firstWait: 0 });
  await watched(script, { middleware: [retry] }).invoke(ask());
  answer();
  const [first, ...others] = spans.named("chat scripted").map((span) => span.attributes["error.type"]);
  expect(first).toBe("timeout");
  expect(others.pop()).toBeUndefined();
  // A busy machine may need the time of an attempt.
  expect(new Set(["timeout", ...others])).toEqual(new Set(["timeout"]));
});

test("a call says which tool it was, and how it went", async () => {
  const bad = anyTool("bad", () => {
    throw Object.assign(new Error("CANARY"), { code: "E_BROKEN" });
  });
  const slow = anyTool("slow", () => new Promise(() => undefined));
  const calls: Turn = {
    toolCalls: [
      { name: "noop", args: {}, id: "c1" },
      { name: "bad", args: {}, id: "c2" },
      { name: "slow", args: {}, id: "c3" },
      { name: "CANARY-made-up", args: {}, id: "c4" },
      { name: "read_file", args: { file_path: "/CANARY.txt" }, id: "c5" },
    ],
  };
  await watched([calls, say("ok")], { tools: [noop, bad, slow], toolTimeout: { slow: 0.05 } }).invoke(ask());
  const told = spans
    .all()
    .filter(({ name }) => name.startsWith("execute_tool"))
    .map(({ name, attributes, status }) => [
      attributes["gen_ai.tool.call.id"],
      name,
      attributes["error.type"],
      status.code,
    ]);
  expect(told.toSorted()).toEqual([
    ["c1", "execute_tool noop", undefined, SpanStatusCode.UNSET],
    ["c2", "execute_tool bad", "E_BROKEN", SpanStatusCode.ERROR],
    ["c3", "execute_tool slow", "timeout", SpanStatusCode.ERROR],
    ["c4", "execute_tool", "tool_error", SpanStatusCode.ERROR],
    ["c5", "execute_tool read_file", "tool_error", SpanStatusCode.ERROR],
  ]);
  expect(spans.text()).not.toContain("CANARY");
});

test("a person who is asked is an event, no error: before a call, in a tool, and in a subagent", async () => {
  const asking = anyTool("asking", () => interrupt("Which one?"));
  const model = scriptedModel([callTool("asking"), say("found")], { modelName: "one" });
  const one = { name: "one", description: "Asks.", systemPrompt: "Ask.", model, tools: [asking] };
  const agent = watched([callTool("noop"), tasks(taskCall("Go.", "one")), say("ok")], {
    ...{ tools: [noop], interruptOn: { noop: true }, subagents: [one as never] },
    checkpointer: new MemorySaver(),
  });
  const thread = onThread("t");
  await agent.invoke(ask(), thread);
  const [first] = spans.named("invoke_agent boss");
  expect(first?.events.map(({ name }) => name)).toEqual(["interrupt"]);
  await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread);
  for (const name of ["execute_tool asking", "invoke_agent one", "execute_tool task"])
    expect([name, spans.one(name).events.map((event) => event.name)]).toEqual([name, ["interrupt"]]);
  await agent.invoke(new Command({ resume: "this" }), thread);
  expect(spans.named("invoke_agent boss").map(({ events }) => events.length)).toEqual([1, 1, 0]);
  expect(spans.all().filter(({ status }) => status.code === SpanStatusCode.ERROR)).toEqual([]);
  expect(spans.text()).not.toContain("Which one?");
});

test("an abort ends every open span as aborted", async () => {
  const stop = new AbortController();
  const hanging = anyTool("hanging", () => {
    stop.abort();
    return new Promise(() => undefined);
  });
  const running = watched([callTool("hanging")], { tools: [hanging] }).invoke(ask(), { signal: stop.signal });
  await expect(running).rejects.toThrow();
  for (const name of ["execute_tool hanging", "invoke_agent boss"])
    expect([name, spans.one(name).attributes["error.type"]]).toEqual([name, "aborted"]);
});

test("who leaves a stream ends its spans", async () => {
  const agent = watched(
    Array.from({ length: 9 }, () => callTool("noop")),
    { tools: [noop] },
  );
  for await (const _ of await agent.stream(ask(), { streamMode: "updates" })) break;
  await expect.poll(() => spans.named("invoke_agent boss").length).toBe(1);
});

test("a summary is a request of its own", async () => {
  const model = scriptedModel(
    ({ messages }) => (messages.some((one) => one.text.includes("word word")) ? say("fine") : say("short")),
    { modelName: "talker", check: false, profile: { maxInputTokens: 6000 } },
  );
  const agent = watched([], { model, checkpointer: new MemorySaver() });
  for (let turn = 0; turn < 6; turn += 1) await agent.invoke(ask("word ".repeat(1000)), onThread("t"));
  expect(spans.named("chat talker").length).toBeGreaterThan(6);
});

test("in LangChain's own loop requests and calls have spans", async () => {
  const agent = createAgent({
    model: scriptedModel([callTool("noop"), say("ok")]) as never,
    tools: [noop as never],
    middleware: [createTelemetryMiddleware({ tracerProvider: spans.provider })] as never,
  });
  await spans.provider.getTracer("user").startActiveSpan("request", async (span) => {
    await agent.invoke(ask() as never);
    span.end();
  });
  expect(spans.outline()).toBe("request\n  chat scripted\n  execute_tool noop\n  chat scripted");
});

test.each([
  [{ tracer: {} }, "tracer"],
  [{ tracerProvider: 1 }, "tracerProvider"],
  [{ captureContent: "yes" }, "captureContent"],
  [{ redact: "all" }, "redact"],
  [{ attributes: [] }, "attributes"],
  [{ sampling: 1 }, "sampling"],
])("options that make no sense are refused: %j", (options, name) => {
  expect(() => createTelemetryMiddleware(options as never)).toThrow(name);
});
