/** Nothing of what people, models and tools say is in a span unless it was asked for; a secret never is. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { anyTool } from "../loop/fixtures/agents.ts";
import { createModelRetryMiddleware } from "../middleware/model-retry.ts";
import { createTelemetryMiddleware, type TelemetryMiddlewareOptions } from "../middleware/telemetry.ts";
import { taskCall } from "../subagents/children-for-tests.ts";
import { callTool, say, scriptedModel, type Turn } from "../testing/index.ts";
import { Redaction } from "./redaction.ts";
import { recordSpans, type Spans } from "./spans-for-tests.ts";

const ENVIRONMENT_KEY = "environment-key-31337";
const CLIENT_KEY = "client-key-without-a-shape";
const SHAPED_KEY = "sk-proj-abcdefghijklmnop1234";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let spans: Spans;
let server: Server;
let baseURL: string;

/** Refuses every request and repeats the key, as providers do. */
beforeAll(async () => {
  server = createServer((request, response) => {
    const key = String(request.headers.authorization).replace("Bearer ", "");
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.`, code: key } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => server.close());
beforeEach(() => {
  spans = recordSpans();
  vi.stubEnv("SOME_API_KEY", ENVIRONMENT_KEY);
});
afterEach(() => vi.unstubAllEnvs());

function telemetry(options: TelemetryMiddlewareOptions) {
  return createTelemetryMiddleware({ tracerProvider: spans.provider, ...options });
}

const failing = anyTool("failing", () => {
  throw new Error("CANARY-thrown");
});
const found = anyTool("found", () => ({ deep: ["CANARY-result", ENVIRONMENT_KEY, SHAPED_KEY] }));

/** A run in which whatever can carry content does: with a subagent, files, failures, a plan, an image. */
async function talk(options: TelemetryMiddlewareOptions): Promise<void> {
  const turns: Turn[] = [
    callTool("write_file", { file_path: "/CANARY-path.txt", content: "CANARY-file" }),
    callTool("read_file", { file_path: "/CANARY-missing.txt" }),
    callTool("failing", { query: "CANARY-argument" }),
    callTool("found", { [`key ${ENVIRONMENT_KEY}`]: ENVIRONMENT_KEY, number: 42 }),
    callTool("CANARY_unknown", {}),
    callTool("task", taskCall("CANARY-task", "one").args),
    say("CANARY-answer"),
  ];
  const child = scriptedModel([callTool("failing", { query: "CANARY-child" }), say("CANARY-said")]);
  const one = { name: "one", description: "CANARY", systemPrompt: "CANARY-child-prompt", model: child };
  const agent = createDeepAgent({
    ...{
      name: "boss",
      model: scriptedModel(turns, { profile: { imageInputs: true } }),
      systemPrompt: "CANARY-system",
    },
    tools: [failing, found] as never,
    subagents: [{ ...one, tools: [failing] }] as never,
    middleware: [telemetry(options)],
  });
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };
  const message = new HumanMessage({
    content: [{ type: "text", text: `CANARY-prompt ${ENVIRONMENT_KEY} ${SHAPED_KEY}` }, image as never],
  });
  await agent.invoke({ messages: [message] } as never);
}

test("without captureContent no prompt, argument, result, path or word of an error is in any span", async () => {
  await talk({});
  expect(spans.all().length).toBeGreaterThan(15);
  const text = spans.text();
  for (const secret of ["CANARY", ENVIRONMENT_KEY, SHAPED_KEY, PIXEL]) expect(text).not.toContain(secret);
});

test("with captureContent what was said is there, and no secret is", async () => {
  await talk({ captureContent: true });
  const text = spans.text();
  for (const kind of ["prompt", "system", "file", "path", "argument", "thrown", "result", "answer", "task"])
    expect(text).toContain(`CANARY-${kind}`);
  for (const secret of [ENVIRONMENT_KEY, SHAPED_KEY, PIXEL]) expect(text).not.toContain(secret);
  expect(text).toContain("[SOME_API_KEY]");
});

test("messages have the shape of the conventions", async () => {
  await talk({ captureContent: true });
  const second = spans.named("chat scripted")[1]?.attributes ?? {};
  const read = (name: string): unknown => JSON.parse(String(second[name]));
  expect(read("gen_ai.system_instructions")).toMatchObject([{ type: "text" }]);
  expect(read("gen_ai.input.messages")).toMatchObject([
    { role: "user", parts: [{ type: "text" }, { type: expect.stringMatching(/^image/) }] },
    {
      role: "assistant",
      parts: [{ type: "tool_call", name: "write_file", arguments: { file_path: "/CANARY-path.txt" } }],
    },
    { role: "tool", parts: [{ type: "tool_call_response", response: expect.any(String) }] },
  ]);
  expect(read("gen_ai.output.messages")).toMatchObject([
    {
      role: "assistant",
      parts: [{ type: "tool_call", name: "read_file" }],
      finish_reason: expect.any(String),
    },
  ]);
  const { attributes } = spans.one("execute_tool found");
  expect(JSON.parse(String(attributes["gen_ai.tool.call.arguments"]))).toEqual({
    "key [SOME_API_KEY]": "[SOME_API_KEY]",
    number: 42,
  });
});

test("the user's rule holds for all content, and hides what it fails on", async () => {
  const redact = (text: string): string => text.replaceAll(/CANARY\S*/g, () => "X");
  await talk({ captureContent: true, redact });
  expect(spans.text()).not.toContain("CANARY");
  expect(spans.text()).toContain("[key]");
  spans = recordSpans();
  const broken = (): never => {
    throw new Error("no");
  };
  await talk({ captureContent: true, redact: broken });
  expect(spans.text()).not.toContain("CANARY");
  expect(spans.text()).toContain("[not shown]");
});

test.each([[false], [true]])(
  "a key that a provider repeats in its error is in no span: captureContent %j",
  async (captureContent) => {
    const model = new ChatOpenAI({ model: "gpt-x", apiKey: CLIENT_KEY, configuration: { baseURL } });
    const agent = createDeepAgent({
      model,
      middleware: [telemetry({ captureContent }), createModelRetryMiddleware({ maxAttempts: 1 })],
    });
    await expect(agent.invoke({ messages: "hi" } as never)).rejects.toThrow("API key");
    const { attributes, status } = spans.one("chat gpt-x");
    expect(attributes).toMatchObject({ "gen_ai.provider.name": "openai", "error.type": "401" });
    expect(status.message?.includes("Incorrect API key") ?? false).toBe(captureContent);
    expect(spans.text()).not.toContain(CLIENT_KEY);
  },
);

test("numbers go through the rules like text, and what is not text keeps its shape", () => {
  vi.stubEnv("PIN_TOKEN", "123456789");
  const value = { pin: 123456789, big: 123456789n, other: 98765432109n, count: 7, list: [1, null, true] };
  const masked = { pin: "[PIN_TOKEN]", big: "[PIN_TOKEN]" };
  const kept = { other: "98765432109", count: 7, list: [1, null, true] };
  expect(JSON.parse(new Redaction().json(value))).toEqual({ ...masked, ...kept });
});

test("of two secrets that begin alike nothing is left", async () => {
  vi.stubEnv("A_TOKEN", "begins-alike");
  vi.stubEnv("B_TOKEN", "begins-alike-and-goes-on");
  const agent = createDeepAgent({
    model: scriptedModel([say("ok")]),
    middleware: [telemetry({ captureContent: true })],
  });
  await agent.invoke({ messages: [new HumanMessage("begins-alike-and-goes-on")] } as never);
  expect(spans.text()).not.toContain("goes-on");
});

test("a thread that goes on is written message by message once", async () => {
  const seen: string[] = [];
  const redact = (text: string): string => {
    seen.push(text);
    return text;
  };
  const noop = anyTool("noop", () => "done");
  const turns = [callTool("noop"), callTool("noop"), callTool("noop"), say("ok")];
  const agent = createDeepAgent({
    ...{ model: scriptedModel(turns), tools: [noop] as never },
    middleware: [telemetry({ captureContent: true, redact })],
  });
  await agent.invoke({ messages: [new HumanMessage("only once")] } as never);
  expect(seen.filter((text) => text === "only once")).toHaveLength(1);
});
