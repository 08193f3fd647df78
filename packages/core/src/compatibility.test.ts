/** Behaviour that a program written for the peer relies on. */
import { AIMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import type { BackendProtocol } from "./backends/backend.ts";
import { StateBackend } from "./backends/state/state.ts";
import { createFilesystemMiddleware } from "./middleware/filesystem.ts";
import { callTool, scriptedModel } from "./testing/index.ts";

const ask = { messages: [{ role: "user", content: "go" }] };

test("createFilesystemMiddleware works in LangChain's createAgent, and `files` need not be given", async () => {
  const model = scriptedModel([callTool("write_file", { file_path: "/a", content: "x" }), "done"]);
  const agent = createAgent({ model, middleware: [createFilesystemMiddleware()] });
  const result = await agent.invoke({ messages: [new HumanMessage("go")] });
  expect(result.files["/a"]?.content).toBe("x");
});

describe("options", () => {
  test("one that is undefined or null is absent, also when this version does not know it", () => {
    const model = scriptedModel(["done"]);
    const spread = { model, optionOfTomorrow: undefined, memory: null };
    expect(() => createDeepAgent(spread as object)).not.toThrow();
    expect(() => createFilesystemMiddleware({ toolTokenLimitBeforeEvict: null } as object)).not.toThrow();
    expect(() => createDeepAgent({ optionOfTomorrow: {} } as object)).toThrow(/no option 'optionOfTomorrow'/);
  });

  test("a backend factory may ask for the state and the store by the peer's types", () => {
    const factory = (_: { state: unknown; store?: unknown }): BackendProtocol => new StateBackend();
    expectTypeOf(factory).toExtend<NonNullable<Parameters<typeof createDeepAgent>[0]>["backend"]>();
  });

  test("interruptOn: a description may look at the state, and argsSchema is handed on", async () => {
    const description = (call: { name: string }, state: { messages: unknown[] }): string =>
      `${call.name} after ${state.messages.length} messages`;
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ls", {}), "done"]),
      interruptOn: { ls: { description, argsSchema: { type: "object" } } },
      checkpointer: new MemorySaver(),
    });
    const { interrupts } = await agent.invoke(ask, { configurable: { thread_id: "1" }, version: "v2" });
    expect(interrupts[0]?.value).toMatchObject({
      actionRequests: [{ name: "ls", description: "ls after 2 messages" }],
      reviewConfigs: [{ actionName: "ls", argsSchema: { type: "object" } }],
    });
  });
});

test("a history that is handed in with open calls is closed in the state, not only in the request", async () => {
  const open = new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "ls", args: {} }] });
  const agent = createDeepAgent({ model: scriptedModel(["done"]) });
  const result = await agent.invoke({ messages: [new HumanMessage("a"), open, new HumanMessage("b")] });
  expect(result.messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "human", "ai"]);
  expect((result.messages[2] as ToolMessage).text).toMatch(/^Tool call was cancelled or did not complete\./);
});

test("middleware sees the agent's responseFormat and may take it away for one call", async () => {
  const seen: unknown[] = [];
  const Answer = z.object({ n: z.number() });
  const plain = createMiddleware({
    name: "Plain",
    wrapModelCall: (request, handler) => {
      seen.push(request.responseFormat);
      return handler({ ...request, responseFormat: undefined });
    },
  });
  const model = scriptedModel(["in words"]);
  const result = await createDeepAgent({ model, responseFormat: Answer, middleware: [plain] }).invoke(ask);
  expect(seen).toEqual([Answer]);
  expect(result.messages.at(-1)?.text).toBe("in words");
});

test("a structured answer by a tool ends with a word of the assistant", async () => {
  const model = scriptedModel([callTool("structured_response", { n: 1 })]);
  const result = await createDeepAgent({ model, responseFormat: z.object({ n: z.number() }) }).invoke(ask);
  expect(result.messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "ai"]);
  expect(result.messages.at(-1)?.text).toBe('Returning structured response: {"n":1}');
  expect(result.structuredResponse).toEqual({ n: 1 });
});

test("parts of the agent's own messages have the namespace [], with and without subgraphs", async () => {
  for (const subgraphs of [false, true]) {
    const model = scriptedModel([callTool("ls", {}), "done"]);
    const stream = await createDeepAgent({ model }).stream(ask, {
      version: "v2",
      streamMode: ["messages", "updates"],
      subgraphs,
    });
    for await (const part of stream) expect(part.ns, part.type).toEqual([]);
  }
});

test("drawMermaid draws the graph", async () => {
  expect(await createDeepAgent({ model: scriptedModel([]) }).drawMermaid()).toContain("model_request");
});
