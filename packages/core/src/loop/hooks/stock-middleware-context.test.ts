/** LangChain's middlewares that shape what the model is shown, in our loop. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import {
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createMiddleware,
  dynamicSystemPromptMiddleware,
  llmToolSelectorMiddleware,
  summarizationMiddleware,
  todoListMiddleware,
} from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

const ask = (text = "Go.") => ({ messages: [new HumanMessage(text)] });
const systemPrompts = (model: ReturnType<typeof scriptedModel>) =>
  model.calls.map((call) => (call.messages[0]?.type === "system" ? call.messages[0].text : ""));
const toolNames = (model: ReturnType<typeof scriptedModel>, turn = 0) =>
  model.calls[turn]?.tools.map((bound) => (bound as { name?: string }).name);

const echo = tool(({ text }) => text, {
  name: "echo",
  description: "Says it again.",
  schema: z.object({ text: z.string() }),
});

describe("todoListMiddleware", () => {
  const todos = [{ content: "one", status: "pending" as const }];

  test("it takes the place of our own todo list", async () => {
    const model = scriptedModel([callTool("write_todos", { todos }), say("done")]);
    const agent = createDeepAgent({ model, middleware: [todoListMiddleware()] });
    const result = await agent.invoke(ask());
    expect(result.todos).toEqual(todos);
    expect(result.messages.filter(ToolMessage.isInstance)[0]?.text).toMatch(/^Updated todo list to/);
    expect(systemPrompts(model)[0]).toContain("## `write_todos`");
    expect(toolNames(model)?.filter((name) => name === "write_todos")).toHaveLength(1);
  });

  test("its hook refuses parallel lists, and every call is answered once", async () => {
    const model = scriptedModel([
      { toolCalls: [1, 2].map((n) => ({ name: "write_todos", args: { todos }, id: `t${n}` })) },
      say("once, then"),
    ]);
    const agent = createDeepAgent({ model, middleware: [todoListMiddleware()] });
    const result = await agent.invoke(ask());
    const answers = result.messages.filter(ToolMessage.isInstance);
    expect(answers.map((m) => [m.tool_call_id, m.status])).toEqual([
      ["t1", "error"],
      ["t2", "error"],
    ]);
    expect(result.todos).toEqual([]);
    expect(result.messages.at(-1)?.text).toBe("once, then");
  });
});

describe("summarizationMiddleware", () => {
  test("old messages give way to a summary, in the request and in the thread", async () => {
    const summarizer = scriptedModel([say("They talked about one and two.")]);
    const model = scriptedModel([say("a"), say("b"), say("c")]);
    const agent = createDeepAgent({
      model,
      middleware: [
        summarizationMiddleware({ model: summarizer, trigger: { messages: 5 }, keep: { messages: 1 } }),
      ],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(ask("one"), thread);
    await agent.invoke(ask("two"), thread);
    const { messages } = await agent.invoke(ask("three"), thread);
    expect(messages.map((m) => m.text)).toEqual([
      expect.stringContaining("They talked about one and two."),
      "three",
      "c",
    ]);
    expect(model.calls[2]?.messages.slice(1).map((m) => m.text)).toEqual(
      messages.slice(0, 2).map((m) => m.text),
    );
    expect(summarizer.calls[0]?.messages.at(-1)?.text).toContain("one");
    expect((await agent.getState(thread)).values.messages).toHaveLength(3);
  });

  test("a call and its result stay together", async () => {
    const summarizer = scriptedModel([say("Summary.")], { loop: true });
    const model = scriptedModel(({ turn }) =>
      turn < 6 ? callTool("echo", { text: `${turn}` }, `c${turn}`) : say("done"),
    );
    const agent = createDeepAgent({
      model,
      tools: [echo],
      middleware: [
        summarizationMiddleware({ model: summarizer, trigger: { messages: 6 }, keep: { messages: 3 } }),
      ],
    });
    const { messages } = await agent.invoke(ask());
    expect(summarizer.callCount).toBeGreaterThan(0);
    expect(messages[0]?.text).toContain("Summary.");
    expect(messages.at(-1)?.text).toBe("done");
    expect(model.violations).toEqual([]);
  });

  test("what its model says is not streamed as the agent's words", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("answer")]),
      middleware: [
        summarizationMiddleware({
          model: scriptedModel([say("SUMMARY")]),
          trigger: { messages: 3 },
          keep: { messages: 1 },
        }),
      ],
    });
    const history = [new HumanMessage("one"), new AIMessage("a"), new HumanMessage("two")];
    let said = "";
    const stream = await agent.stream({ messages: history }, { streamMode: "messages" });
    for await (const [message] of stream) if (AIMessage.isInstance(message)) said += message.text;
    expect(said).toBe("answer");
  });
});

describe("contextEditingMiddleware", () => {
  const clearing = () =>
    contextEditingMiddleware({
      edits: [
        new ClearToolUsesEdit({ trigger: { messages: 4 }, keep: { messages: 1 }, clearToolInputs: true }),
      ],
    });

  test("old results are cleared in the request and stay whole in the thread", async () => {
    const model = scriptedModel([
      callTool("echo", { text: "first" }, "c1"),
      callTool("echo", { text: "second" }, "c2"),
      say("done"),
    ]);
    const agent = createDeepAgent({ model, tools: [echo], middleware: [clearing()] });
    const { messages } = await agent.invoke(ask());
    const seen = model.calls[2]?.messages ?? [];
    expect(seen.filter(ToolMessage.isInstance).map((m) => m.text)).toEqual(["[cleared]", "second"]);
    expect(seen.filter(AIMessage.isInstance)[0]?.tool_calls?.[0]?.args).toEqual({});
    expect(messages.filter(ToolMessage.isInstance).map((m) => m.text)).toEqual(["first", "second"]);
    expect(messages.filter(AIMessage.isInstance)[0]?.tool_calls?.[0]?.args).toEqual({ text: "first" });
  });

  test("each request is edited anew from the whole thread", async () => {
    const model = scriptedModel(({ turn }) =>
      turn < 4 ? callTool("echo", { text: `${turn}` }, `c${turn}`) : say("done"),
    );
    const agent = createDeepAgent({ model, tools: [echo], middleware: [clearing()] });
    const { messages } = await agent.invoke(ask());
    expect(messages.filter(ToolMessage.isInstance).map((m) => m.text)).toEqual(["0", "1", "2", "3"]);
    const last = model.calls[4]?.messages.filter(ToolMessage.isInstance).map((m) => m.text);
    expect(last).toEqual(["[cleared]", "[cleared]", "[cleared]", "3"]);
  });

  test("tokens may be counted by the model", async () => {
    const model = scriptedModel([
      callTool("echo", { text: "x".repeat(4000) }, "c1"),
      callTool("echo", { text: "second" }, "c2"),
      say("done"),
    ]);
    const agent = createDeepAgent({
      model,
      tools: [echo],
      middleware: [
        contextEditingMiddleware({
          edits: [new ClearToolUsesEdit({ trigger: { tokens: 1000 }, keep: { messages: 1 } })],
          tokenCountMethod: "model",
        }),
      ],
    });
    await agent.invoke(ask());
    expect(model.calls[2]?.messages.filter(ToolMessage.isInstance)[0]?.text).toBe("[cleared]");
  });
});

describe("llmToolSelectorMiddleware", () => {
  const selecting = (...tools: string[]) => scriptedModel([JSON.stringify({ tools })], { loop: true });

  test("the model sees the selected tools only, and no word about the others", async () => {
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [echo],
      systemPrompt: "Be brief.",
      middleware: [llmToolSelectorMiddleware({ model: selecting("echo"), maxTools: 2 })],
    });
    await agent.invoke(ask());
    expect(toolNames(model)).toEqual(["echo"]);
    const [prompt = ""] = systemPrompts(model);
    expect(prompt).toMatch(/^Be brief\./);
    expect(prompt).not.toMatch(/write_todos|read_file|## Files|## Todo/);
    expect(agent.describe().systemPrompt).toMatch(/## Files/);
  });

  test("the words of the tools that stay, stay", async () => {
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({
      model,
      middleware: [
        llmToolSelectorMiddleware({ model: selecting("read_file"), alwaysInclude: ["write_todos"] }),
      ],
    });
    await agent.invoke(ask());
    expect(toolNames(model)?.toSorted()).toEqual(["read_file", "write_todos"]);
    const [prompt] = systemPrompts(model);
    expect(prompt).toContain("write_todos");
    expect(prompt).toContain("## Files");
    expect(prompt).not.toMatch(/write_file|grep/);
  });

  test.each(["outside", "inside"] as const)(
    "words another middleware added %s of it are kept",
    async (place) => {
      const model = scriptedModel([say("done")]);
      const selector = llmToolSelectorMiddleware({ model: selecting("echo") });
      const words = dynamicSystemPromptMiddleware(() => "\n\nSpeak like a pirate.");
      const agent = createDeepAgent({
        model,
        tools: [echo],
        middleware: place === "outside" ? [words, selector] : [selector, words],
      });
      await agent.invoke(ask());
      const [prompt] = systemPrompts(model);
      expect(prompt).toMatch(/Speak like a pirate\.$/);
      expect(prompt).not.toMatch(/## Files/);
    },
  );

  test("a tool that was not selected can still be answered when the model calls it anyway", async () => {
    const model = scriptedModel([callTool("echo", { text: "hi" }), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [echo],
      middleware: [llmToolSelectorMiddleware({ model: selecting("ls") })],
    });
    const { messages } = await agent.invoke(ask());
    expect(messages.filter(ToolMessage.isInstance)).toHaveLength(1);
    expect(messages.at(-1)?.text).toBe("done");
  });
});

describe("dynamicSystemPromptMiddleware", () => {
  test("its words depend on the state and the caller's context", async () => {
    const model = scriptedModel([callTool("echo", { text: "hi" }), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [echo],
      middleware: [
        dynamicSystemPromptMiddleware<{ user: string }>(
          (state, runtime) => `\n\nFor ${runtime.context.user}, message ${state.messages.length}.`,
        ),
      ],
    });
    await agent.invoke(ask(), { context: { user: "Ann" } });
    expect(systemPrompts(model)[0]).toMatch(/\n\nFor Ann, message 1\.$/);
    expect(systemPrompts(model)[1]).toMatch(/\n\nFor Ann, message 3\.$/);
    expect(systemPrompts(model)[1]).toContain("## Files");
  });

  test("without a caller's context it sees an empty one", async () => {
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({
      model,
      middleware: [
        dynamicSystemPromptMiddleware<{ user?: string }>(
          (_, { context }) => `\n\nFor ${context.user ?? "you"}.`,
        ),
        createMiddleware({
          name: "plain",
          beforeModel: (_, runtime) => void expect(runtime.context).toEqual({}),
        }),
      ],
    });
    await agent.invoke(ask());
    expect(systemPrompts(model)[0]).toMatch(/For you\.$/);
  });
});
