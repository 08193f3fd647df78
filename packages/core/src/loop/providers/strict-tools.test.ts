/** Strict modes, on the request bodies of LangChain's own clients. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOllama } from "@langchain/ollama";
import { createMiddleware, providerStrategy, tool } from "langchain";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { type ProviderAnswer, providerServer } from "../../context/fixtures/provider-server-for-tests.ts";
import { MODELS } from "../../context/fixtures/provider-server-models-for-tests.ts";
import type { ChatModel } from "./model-source.ts";
import { openaiSchema, withoutNulls } from "./strict-schema.ts";

const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

const strictly = (strict: boolean) =>
  createMiddleware({
    name: "strictly",
    wrapModelCall: (request, handler) => handler({ ...request, modelSettings: { strict } }),
  });

const received: unknown[] = [];
const order = tool(
  (args) => {
    received.push(args);
    return "ordered";
  },
  {
    name: "order",
    description: "Order something",
    schema: z.object({
      item: z.string(),
      count: z.number().min(1).default(1),
      size: z.enum(["s", "l"]).optional(),
      note: z.string().nullable().optional(),
      to: z.object({ city: z.string(), zip: z.string().optional() }).optional(),
    }),
  },
);
const record = tool(() => "kept", {
  name: "keep",
  description: "Keep values",
  schema: z.object({ values: z.record(z.string(), z.string()) }),
});

interface Sent {
  readonly schemas: Record<string, Schema>;
  readonly strict: readonly unknown[];
  readonly body: Record<string, unknown>;
}

type Schema = { type?: unknown; properties?: Record<string, Schema>; [key: string]: unknown };

async function sentWith(
  api: keyof typeof MODELS,
  options: object,
  answers: ProviderAnswer[] = [],
): Promise<{ sent: Sent; state: { structuredResponse?: unknown } }> {
  const bodies: Record<string, unknown>[] = [];
  const server = await providerServer({
    answer: ({ body }) => {
      bodies.push(body as Record<string, unknown>);
      return answers.shift() ?? { text: "Done." };
    },
  });
  closers.push(() => server.close());
  const model = MODELS[api](server.url);
  const agent = createDeepAgent({ model, tools: [order], ...options } as never);
  const state = await agent.invoke({ messages: [new HumanMessage("go")] } as never);
  expect(server.refusals).toEqual([]);
  const [body = {}] = bodies;
  return { sent: toolsOf(body), state: state as never };
}

interface AnyTool {
  readonly name: string;
  readonly strict?: unknown;
  readonly parameters?: Schema;
  readonly input_schema?: Schema;
  readonly function?: AnyTool;
}

function toolsOf(body: Record<string, unknown>): Sent {
  const given = body.tools as (AnyTool & { functionDeclarations?: AnyTool[] })[];
  const tools = given.flatMap((one) => one.functionDeclarations ?? [one.function ?? one]);
  return {
    schemas: Object.fromEntries(
      tools.map((one) => [one.name, (one.parameters ?? one.input_schema) as Schema]),
    ),
    strict: tools.map(({ strict }) => strict),
    body,
  };
}

/** Paths of objects that OpenAI would refuse. */
function unfit(schema: unknown, path = ""): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { type, properties, required, additionalProperties } = schema as Schema;
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  const names = Object.keys(properties ?? {});
  const isFit =
    !isObject ||
    (additionalProperties === false && names.every((name) => (required as string[]).includes(name)));
  const inside = Object.entries(schema).flatMap(([key, value]) => unfit(value, `${path}/${key}`));
  const refused = ["default", "oneOf", "allOf"].filter(
    (key) => key in schema && !path.endsWith("/properties"),
  );
  return [...(isFit ? [] : [path]), ...refused.map((key) => `${path}/${key}`), ...inside];
}

describe.each(["chat", "responses"] as const)("OpenAI, %s, in strict mode", (api) => {
  test("every property of every tool is required, and optional ones may be null", async () => {
    const { sent } = await sentWith(api, { middleware: [strictly(true)] });
    expect(Object.entries(sent.schemas).flatMap(([name, schema]) => unfit(schema, name))).toEqual([]);
    expect(new Set(sent.strict)).toEqual(new Set([true]));
    expect(sent.schemas.order?.properties).toMatchObject({
      item: { type: "string" },
      count: { type: ["number", "null"] },
      size: { anyOf: [{ type: "string", enum: ["s", "l"] }, { type: "null" }] },
      to: { type: ["object", "null"], properties: { zip: { type: ["string", "null"] } } },
    });
  });

  test("a tool that strict mode cannot express turns it off", async () => {
    const { sent } = await sentWith(api, { tools: [order, record], middleware: [strictly(true)] });
    expect(new Set(sent.strict)).toEqual(new Set([false]));
    expect(sent.schemas.order?.required).toEqual(["item", "count"]);
  });

  test("without strict mode the tools are sent as they are", async () => {
    const { sent } = await sentWith(api, {});
    expect(sent.schemas.order?.required).toEqual(["item", "count"]);
    expect(sent.strict).not.toContain(true);
  });

  test("the schema of an answer is strict, and null in it means absent", async () => {
    const schema = z.object({ city: z.string(), zip: z.string().optional() });
    const answers = [{ text: '{"city":"Oslo","zip":null}' }];
    const { sent, state } = await sentWith(api, { responseFormat: providerStrategy(schema) }, answers);
    const { response_format: chat, text } = sent.body as {
      response_format?: { json_schema: Schema };
      text?: { format: Schema };
    };
    const format = chat?.json_schema ?? text?.format;
    expect([format?.strict, unfit(format?.schema)]).toEqual([true, []]);
    expect(Object.entries(sent.schemas).flatMap(([name, one]) => unfit(one, name))).toEqual([]);
    expect(state.structuredResponse).toEqual({ city: "Oslo" });
  });
});

test("a client that is strict by itself gets the same", async () => {
  const build = MODELS.chat;
  const model = Object.assign(build("http://127.0.0.1:9"), { supportsStrictToolCalling: true });
  const { strictBinding } = await import("./strict-tools.ts");
  const { tools } = strictBinding(model, { tools: [order], options: {} });
  expect(unfit((tools[0] as { function: AnyTool }).function.parameters)).toEqual([]);
});

test("Anthropic in strict mode gets closed objects without limits; a tool it cannot express is not strict", async () => {
  const { sent } = await sentWith("anthropic", { tools: [order, record], middleware: [strictly(true)] });
  const { order: schema, keep } = sent.schemas;
  expect(schema).toMatchObject({ required: ["item", "count"], additionalProperties: false });
  expect(schema?.properties?.count).toEqual({ type: "number" });
  expect(keep).toBeDefined();
  expect(sent.strict.filter((strict) => strict !== true)).toEqual([undefined]);
});

test("Gemini has no strict mode for tools: they are sent as they are", async () => {
  const { sent } = await sentWith("gemini", { middleware: [strictly(true)] });
  expect(sent.schemas.order?.required).toEqual(["item", "count"]);
});

test("Ollama has no strict mode for tools: they are sent as they are", async () => {
  let body = "";
  const server = createServer(async (request, response) => {
    for await (const piece of request) body += piece;
    const message = { role: "assistant", content: "Done." };
    response.end(
      `${JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", message, done: true })}\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const model = new ChatOllama({ baseUrl, model: "m", maxRetries: 0 }) as unknown as ChatModel;
  await createDeepAgent({ model, tools: [order], middleware: [strictly(true)] } as never).invoke({
    messages: [new HumanMessage("go")],
  } as never);
  expect(toolsOf(JSON.parse(body)).schemas.order?.required).toEqual(["item", "count"]);
});

test("a model that says null for what it leaves out is understood, and null stays where it is a value", async () => {
  const args = { item: "tea", count: null, size: null, note: null, to: { city: "Oslo", zip: null } };
  const answers = [{ calls: [{ name: "order", args }] }];
  received.length = 0;
  await sentWith("chat", { middleware: [strictly(true)] }, answers);
  expect(received).toEqual([{ item: "tea", count: 1, note: null, to: { city: "Oslo" } }]);
});

describe("a strict schema", () => {
  test.each<[string, object]>([
    ["a record", { type: "object", properties: { a: { type: "object", additionalProperties: true } } }],
    ["anything", { type: "object", properties: { a: {} } }],
    ["a list of anything", { type: "object", properties: { a: { type: "array" } } }],
    ["an intersection", { type: "object", properties: { a: { allOf: [] } } }],
  ])("is none for %s", (_name, schema) => {
    expect(openaiSchema(schema as never)).toBeUndefined();
  });

  test("keeps references and their definitions", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: [] };
    const made = openaiSchema({ type: "object", properties: {}, $defs: { node } });
    expect(made).toMatchObject({
      $defs: {
        node: {
          required: ["next"],
          properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
        },
      },
    });
  });

  test("values without nulls are not copied", () => {
    const value = { a: [1], b: { c: 2 } };
    const schema = {
      type: "object",
      properties: { a: { type: "array" }, b: { type: "object", properties: {} } },
    };
    expect(withoutNulls(schema, value)).toBe(value);
  });
});
