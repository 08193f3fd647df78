import { type AIMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { CompiledStateGraph, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createDeepAgent, DeepAgent } from "./agent.ts";
import { callTool, fault, say, scriptedModel } from "./testing/index.ts";

const ask = (text = "Go.") => ({ messages: [new HumanMessage(text)] });
const thread = (id = "t") => ({ configurable: { thread_id: id } });
const texts = (messages: readonly { text: string }[]) => messages.map((message) => message.text);

/** Repeats the last message. */
const echoing = () => scriptedModel(({ messages }) => `echo: ${messages.at(-1)?.text}`);

describe("the input", () => {
  test.each([
    ["a string", "hi"],
    ["a list of strings", ["hi"]],
    ["a dict", { role: "user", content: "hi" }],
    ["a list of dicts", [{ role: "user", content: "hi" }]],
    ["a dict with a type", [{ type: "human", content: "hi" }]],
    ["a tuple", ["user", "hi"]],
    ["a list of tuples", [["human", "hi"]]],
    ["a message", new HumanMessage("hi")],
    ["a list of messages", [new HumanMessage("hi")]],
  ])("messages may be %s", async (_, messages) => {
    const result = await createDeepAgent({ model: echoing() }).invoke({ messages });
    expect(texts(result.messages)).toEqual(["hi", "echo: hi"]);
    expect(HumanMessage.isInstance(result.messages[0])).toBe(true);
  });

  test("several, of several kinds, keep their order", async () => {
    const messages = ["one", ["ai", "two"], { role: "user", content: "three" }];
    const result = await createDeepAgent({ model: echoing() }).invoke({ messages });
    expect(result.messages.map((m) => [m.type, m.text])).toEqual([
      ["human", "one"],
      ["ai", "two"],
      ["human", "three"],
      ["ai", "echo: three"],
    ]);
  });

  test("every message in the state has an id of its own", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ls"), say("done")], { check: { ids: false } }),
      checkpointer: new MemorySaver(),
    });
    await agent.invoke({ messages: ["a", { role: "user", content: "b" }] }, thread());
    await agent.updateState(thread(), { messages: [{ role: "user", content: "c" }] });
    const { messages } = (await agent.getState(thread())).values;
    const ids = messages.map((message: { id?: string }) => message.id);
    expect(ids.every((id: unknown) => typeof id === "string" && id !== "")).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([["a string"], [42], [[new HumanMessage("hi")]], [true]])(
    "%j is no input, and says what is",
    async (input) => {
      await expect(createDeepAgent({ model: echoing() }).invoke(input as never)).rejects.toMatchObject({
        name: "DeepwrightError",
        code: "INVALID_INPUT",
        message: expect.stringContaining('{messages: [{role: "user", content: "Hi"}]}'),
      });
    },
  );

  test.each([[{ role: "wizard", content: "x" }], [{}], [[{ content: "x" }]], [42], [[null]]])(
    "messages that are %j are refused",
    async (messages) => {
      const model = echoing();
      await expect(createDeepAgent({ model }).invoke({ messages })).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("'messages'"),
      });
      expect(model.callCount).toBe(0);
    },
  );

  test("no message at all is refused, as a thread that was never begun", async () => {
    const agent = createDeepAgent({ model: echoing(), checkpointer: new MemorySaver() });
    for (const input of [{}, { messages: [] }])
      await expect(agent.invoke(input, thread())).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("keys the state does not have are ignored", async () => {
    const result = await createDeepAgent({ model: echoing() }).invoke({ ...ask(), nonsense: 1 } as never);
    expect(result).not.toHaveProperty("nonsense");
  });

  test("a todo list that is none is refused", async () => {
    await expect(
      createDeepAgent({ model: echoing() }).invoke({ ...ask(), todos: [{ content: 1 }] } as never),
    ).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("'todos'") });
  });
});

describe("files", () => {
  const write = (file_path: string, content: string) => callTool("write_file", { file_path, content });

  test("given as input can be read, and what is written is in the result", async () => {
    const model = scriptedModel([
      callTool("read_file", { file_path: "/in.txt" }),
      write("/out.txt", "new"),
      say("ok"),
    ]);
    const now = "2026-01-01T00:00:00.000Z";
    const file = { content: "given text", mimeType: "text/plain", created_at: now, modified_at: now };
    const result = await createDeepAgent({ model }).invoke({ ...ask(), files: { "/in.txt": file } });
    expect(result.messages[2]?.text).toContain("given text");
    expect(result.files["/in.txt"]?.content).toBe("given text");
    expect(result.files["/out.txt"]?.content).toBe("new");
  });

  test("stay in their thread, and only there", async () => {
    const read = callTool("read_file", { file_path: "/a.txt" });
    const model = scriptedModel([write("/a.txt", "A"), say("ok"), read, say("ok"), read, say("ok")]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
    await agent.invoke(ask(), thread("one"));
    const again = await agent.invoke(ask(), thread("one"));
    expect(again.messages.findLast((m) => m.type === "tool")?.text).toContain("A");
    const other = await agent.invoke(ask(), thread("two"));
    expect(other.messages.findLast((m) => m.type === "tool")?.text).toContain("not found");
    expect(other.files).toEqual({});
  });
});

describe("the agent is a LangGraph graph", () => {
  test("and its own `graph`", () => {
    const agent = createDeepAgent({ model: echoing() });
    expect(agent).toBeInstanceOf(CompiledStateGraph);
    expect(agent).toBeInstanceOf(DeepAgent);
    expect(agent.graph).toBe(agent);
  });

  test("withConfig binds thread, tags and metadata, and stays an agent", async () => {
    const agent = createDeepAgent({ model: echoing(), checkpointer: new MemorySaver() });
    const bound = agent.withConfig({ ...thread("bound"), tags: ["mine"], metadata: { job: 7 } });
    expect(bound).toBeInstanceOf(DeepAgent);
    expect((bound as typeof agent).describe().model).toBe(agent.describe().model);
    const seen: { job?: number; tags?: string[] }[] = [];
    for await (const [, metadata] of await bound.stream(ask(), { streamMode: "messages" }))
      seen.push(metadata);
    expect(seen.at(-1)).toMatchObject({ job: 7, tags: expect.arrayContaining(["mine"]) });
    expect((await agent.getState(thread("bound"))).values.messages).toHaveLength(2);
  });

  test("drawMermaid shows the nodes there are", async () => {
    const drawing = (await createDeepAgent({ model: echoing() }).getGraphAsync()).drawMermaid();
    for (const node of ["__start__", "model_request", "tools", "__end__"]) expect(drawing).toContain(node);
    expect(drawing).not.toContain("approval");
    const gated = createDeepAgent({ model: echoing(), interruptOn: { ls: true } }).getGraph();
    expect(gated.drawMermaid()).toContain("approval");
  });

  test("drawMermaidPng gives the bytes of the picture", async () => {
    const asked: string[] = [];
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
      asked.push(String(url));
      return new Response(Uint8Array.of(1, 2, 3));
    });
    try {
      const picture = await createDeepAgent({ model: echoing() }).drawMermaidPng({ withStyles: false });
      expect(picture).toEqual(Uint8Array.of(1, 2, 3));
    } finally {
      fetch.mockRestore();
    }
    expect(asked).toEqual([expect.stringContaining("mermaid.ink")]);
  });

  test("`options` are those it was built with, also after withConfig", () => {
    const options = { model: echoing(), name: "helper", tools: [] };
    const agent = createDeepAgent(options);
    expect(agent.options).toBe(options);
    expect((agent.withConfig({ tags: ["mine"] }) as typeof agent).options).toBe(options);
  });

  test("batch runs several inputs", async () => {
    const results = await createDeepAgent({ model: echoing() }).batch([ask("a"), ask("b"), ask("c")]);
    expect(results.map((result: any) => result.messages.at(-1).text)).toEqual([
      "echo: a",
      "echo: b",
      "echo: c",
    ]);
  });

  test("it is a link of a RunnableSequence", async () => {
    const chain = RunnableSequence.from([
      RunnableLambda.from((text: string) => ask(text)),
      createDeepAgent({ model: echoing() }) as never,
      RunnableLambda.from((result: { messages: AIMessage[] }) => result.messages.at(-1)?.text),
    ]);
    expect(await chain.invoke("hi")).toBe("echo: hi");
  });

  test("it may be a tool of another agent", async () => {
    const inner = createDeepAgent({ name: "inner", model: echoing() });
    const delegate = inner.asTool({
      name: "delegate",
      description: "Asks the inner agent.",
      schema: z.object({ messages: z.array(z.string()) }) as never,
    });
    const model = scriptedModel([callTool("delegate", { messages: ["hi"] }), say("done")]);
    const result = await createDeepAgent({ model, tools: [delegate as never] }).invoke(ask());
    expect(result.messages[2]?.text).toContain("echo: hi");
    expect(result.messages.at(-1)?.text).toBe("done");
  });

  test("called inside a tool it is a run of its own, whatever the outer run's limits", async () => {
    const steps = Array.from({ length: 30 }, (_, i) => callTool("ls", { path: `/${i}` }));
    const inner = createDeepAgent({ name: "inner", model: scriptedModel([...steps, say("inner done")]) });
    const delegate = tool(
      async (_, config) => {
        const { messages } = await inner.invoke(ask(), config as object);
        return messages.at(-1)?.text ?? "";
      },
      { name: "delegate", description: "Delegates.", schema: z.object({}) },
    );
    const outer = createDeepAgent({
      model: scriptedModel([callTool("delegate"), say("done")]),
      tools: [delegate],
    });
    const result = await outer.invoke(ask(), { recursionLimit: 10 });
    expect(result.messages[2]?.text).toBe("inner done");
    expect(result.files).toEqual({});
  });

  test("hundreds of turns are no matter of limits", async () => {
    const model = scriptedModel(({ turn }) =>
      turn < 150 ? callTool("ls", { path: `/${turn}` }) : say("done"),
    );
    expect((await createDeepAgent({ model }).invoke(ask())).messages.at(-1)?.text).toBe("done");
  });

  test("name is the name of its messages and its metadata", async () => {
    const agent = createDeepAgent({ name: "scout", model: echoing() });
    const result = await agent.invoke(ask());
    expect(agent.getName()).toBe("scout");
    expect(result.messages.at(-1)?.name).toBe("scout");
    for await (const [, metadata] of await agent.stream(ask(), { streamMode: "messages" }))
      expect(metadata.lc_agent_name).toBe("scout");
  });

  test("two agents in one graph share the conversation", async () => {
    const one = createDeepAgent({ name: "one", model: scriptedModel([say("from one")]) });
    const two = createDeepAgent({
      name: "two",
      model: scriptedModel(({ messages }) => `two saw ${messages.length}`),
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("one", one as never)
      .addNode("two", two as never)
      .addEdge(START, "one" as never)
      .addEdge("one" as never, "two" as never)
      .compile();
    const { messages } = await graph.invoke({
      messages: [new HumanMessage("Go."), new HumanMessage("Both.")],
    });
    expect(texts(messages).slice(2)).toEqual(["from one", "two saw 4"]);
  });

  test("debug prints what happens", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await createDeepAgent({ model: echoing(), debug: true }).invoke(ask());
    const printed = log.mock.calls.flat().join("\n");
    log.mockRestore();
    expect(printed).toContain("model_request");
  });
});

describe("the outcome", () => {
  test.each([
    ["done", say("done")],
    ["length", fault.length()],
    ["content_filter", fault.contentFilter()],
    ["refusal", fault.refusal()],
    ["empty", fault.empty()],
    ["empty", fault.onlyThinking()],
  ])("is %s, and invoke resolves with it", async (kind, turn) => {
    const result = await createDeepAgent({ model: scriptedModel([turn]) }).invoke(ask());
    expect(result.outcome.kind).toBe(kind);
  });

  test("is that of this run, not of the one before", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([fault.length(), say("done")]),
      checkpointer: new MemorySaver(),
    });
    expect((await agent.invoke(ask(), thread())).outcome.kind).toBe("length");
    expect((await agent.invoke(ask(), thread())).outcome.kind).toBe("done");
  });

  test("an error of the provider rejects, and the thread can go on", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([fault.status(400), say("back")]),
      checkpointer: new MemorySaver(),
    });
    await expect(agent.invoke(ask(), thread())).rejects.toMatchObject({ status: 400 });
    const result = await agent.invoke(ask("Again."), thread());
    expect(texts(result.messages)).toEqual(["Go.", "Again.", "back"]);
  });
});
