/** The middleware contract: tools a middleware brings, offers for a turn, takes away or wraps. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });
const thread = (id = "t") => ({ configurable: { thread_id: id } });
const plain = (name: string, answer = `${name} ran`) =>
  tool(() => answer, { name, description: `Runs ${name}.`, schema: z.object({}) });
const results = (messages: readonly unknown[]) =>
  messages.filter(ToolMessage.isInstance).map((message) => message.text);
const names = (model: ReturnType<typeof scriptedModel>, turn = 0) =>
  model.calls[turn]?.tools.map((bound) => (bound as { name: string }).name) ?? [];

describe("tools of a middleware", () => {
  test("are offered and run like the agent's own", async () => {
    const model = scriptedModel([callTool("extra"), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [plain("own")],
      middleware: [createMiddleware({ name: "brings", tools: [plain("extra")] })],
    });
    expect(results((await agent.invoke(ask())).messages)).toEqual(["extra ran"]);
    expect(names(model)).toEqual(expect.arrayContaining(["own", "extra", "ls", "write_todos"]));
  });

  test.each([
    [
      "another middleware",
      { middleware: ["a", "b"].map((name) => createMiddleware({ name, tools: [plain("same")] })) },
    ],
    [
      "the agent",
      { tools: [plain("same")], middleware: [createMiddleware({ name: "a", tools: [plain("same")] })] },
    ],
    ["the built-in ones", { middleware: [createMiddleware({ name: "a", tools: [plain("read_file")] })] }],
  ])("that have the name of a tool of %s are refused", (_, options) => {
    expect(() => createDeepAgent(options)).toThrow(expect.objectContaining({ code: "TOOL_NAME_COLLISION" }));
  });
});

describe("tools offered in wrapModelCall", () => {
  const offering = (...offered: ReturnType<typeof plain>[]) =>
    createMiddleware({
      name: "offering",
      wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, ...offered] }),
    });

  test("run without a wrapToolCall", async () => {
    const model = scriptedModel([callTool("extra"), say("done")]);
    const agent = createDeepAgent({ model, middleware: [offering(plain("extra"))] });
    expect(results((await agent.invoke(ask())).messages)).toEqual(["extra ran"]);
    expect(names(model)).toContain("extra");
  });

  test("may stand in for a tool the agent has, for this turn", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("own"), say("done")]),
      tools: [plain("own", "the original")],
      middleware: [
        createMiddleware({
          name: "replaces",
          wrapModelCall: (request, handler) => {
            const others = request.tools.filter((one) => (one as { name?: string }).name !== "own");
            return handler({ ...request, tools: [...others, plain("own", "the stand-in")] });
          },
        }),
      ],
    });
    expect(results((await agent.invoke(ask())).messages)).toEqual(["the stand-in"]);
  });

  test("are unknown to the next turn and to other threads", async () => {
    let offers = true;
    const agent = createDeepAgent({
      model: scriptedModel([
        callTool("extra"),
        callTool("extra"),
        say("done"),
        callTool("extra"),
        say("done"),
      ]),
      middleware: [
        createMiddleware({
          name: "once",
          wrapModelCall: (request, handler) => {
            const tools = offers ? [...request.tools, plain("extra")] : request.tools;
            offers = false;
            return handler({ ...request, tools });
          },
        }),
      ],
      checkpointer: new MemorySaver(),
    });
    const [first, second] = results((await agent.invoke(ask(), thread("one"))).messages);
    expect(first).toBe("extra ran");
    expect(second).toMatch(/There is no tool 'extra'/);
    expect(results((await agent.invoke(ask(), thread("two"))).messages)[0]).toMatch(
      /There is no tool 'extra'/,
    );
  });

  test("run also after a person was asked", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("extra"), say("done")]),
      middleware: [offering(plain("extra"))],
      interruptOn: { extra: true },
      checkpointer: new MemorySaver(),
    });
    expect((await agent.invoke(ask(), thread())).__interrupt__).toHaveLength(1);
    const approve = new Command({ resume: { decisions: [{ type: "approve" }] } });
    expect(results((await agent.invoke(approve, thread())).messages)).toEqual(["extra ran"]);
  });

  test("may be given by wrapToolCall as well, as LangChain asks for", async () => {
    const extra = plain("extra");
    const agent = createDeepAgent({
      model: scriptedModel([callTool("extra"), say("done")]),
      middleware: [
        createMiddleware({
          name: "dynamic",
          wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, extra] }),
          wrapToolCall: (request, handler) =>
            handler(request.toolCall.name === "extra" ? { ...request, tool: extra } : request),
        }),
      ],
    });
    expect(results((await agent.invoke(ask())).messages)).toEqual(["extra ran"]);
  });
});

describe("tools taken away in wrapModelCall", () => {
  test("are not shown, and the prompt does not speak of them", async () => {
    const model = scriptedModel([say("done"), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [plain("own")],
      middleware: [
        createMiddleware({
          name: "narrows",
          wrapModelCall: (request, handler) => {
            const tools = request.tools.filter((one) => (one as { name?: string }).name === "own");
            return handler({ ...request, tools });
          },
        }),
      ],
    });
    await agent.invoke(ask());
    expect(names(model)).toEqual(["own"]);
    expect(model.calls[0]?.messages[0]?.text).not.toMatch(/read_file|write_todos|## Files|## Todo/);
    await agent.invoke(ask());
    expect(model.calls[1]?.messages[0]?.text).toBe(model.calls[0]?.messages[0]?.text);
  });

  test("an empty list binds none", async () => {
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({
      model,
      middleware: [
        createMiddleware({
          name: "none",
          wrapModelCall: (request, handler) => handler({ ...request, tools: [] }),
        }),
      ],
    });
    await agent.invoke(ask());
    expect(names(model)).toEqual([]);
  });
});

describe("wrapToolCall", () => {
  test("sees the call, the tool and the state, and may change the arguments", async () => {
    const seen: unknown[] = [];
    const echo = tool(({ text }) => text, {
      name: "echo",
      description: "Echoes.",
      schema: z.object({ text: z.string() }),
    });
    const agent = createDeepAgent({
      model: scriptedModel([callTool("echo", { text: "hi" }, "c"), say("done")]),
      tools: [echo],
      middleware: [
        createMiddleware({
          name: "shouts",
          wrapToolCall: (request, handler) => {
            seen.push(request.tool === echo, request.toolCall.id, request.state.messages.length);
            const args = { text: String(request.toolCall.args.text).toUpperCase() };
            return handler({ ...request, toolCall: { ...request.toolCall, args } });
          },
        }),
      ],
    });
    expect(results((await agent.invoke(ask())).messages)).toEqual(["HI"]);
    expect(seen).toEqual([true, "c", 2]);
  });

  test("may answer by itself, with a message or a command", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([
        {
          toolCalls: [
            { name: "a", id: "1" },
            { name: "b", id: "2" },
          ],
        },
        say("done"),
      ]),
      tools: [plain("a"), plain("b")],
      stateSchema: z.object({ note: z.string().optional() }),
      middleware: [
        createMiddleware({
          name: "answers",
          wrapToolCall: ({ toolCall }) =>
            toolCall.name === "a"
              ? new ToolMessage({ content: "answered", tool_call_id: toolCall.id as string })
              : new Command({ update: { note: "noted" } }),
        }),
      ],
    });
    const result = await agent.invoke(ask());
    expect(results(result.messages)).toEqual(["answered", "b is done."]);
    expect(result.note).toBe("noted");
  });

  test("also sees calls of tools that do not exist", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([callTool("nowhere"), say("done")]),
      middleware: [
        createMiddleware({
          name: "looks",
          wrapToolCall: (request, handler) => {
            seen.push(request.tool);
            return handler(request);
          },
        }),
      ],
    });
    expect(results((await agent.invoke(ask())).messages)[0]).toMatch(/There is no tool 'nowhere'/);
    expect(seen).toEqual([undefined]);
  });

  test("with any other result is a typed error", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("a"), say("done")]),
      tools: [plain("a")],
      middleware: [createMiddleware({ name: "odd", wrapToolCall: () => "a string" as never })],
    });
    await expect(agent.invoke(ask())).rejects.toMatchObject({
      code: "INVALID_MIDDLEWARE_RESULT",
      message: expect.stringContaining("wrapToolCall of middleware 'odd'"),
    });
  });

  test("that throws an error of its own rejects the run", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("a"), say("done")]),
      tools: [plain("a")],
      middleware: [
        createMiddleware({
          name: "breaks",
          wrapToolCall: () => {
            throw new RangeError("a bug of the middleware");
          },
        }),
      ],
    });
    await expect(agent.invoke(ask())).rejects.toThrow(RangeError);
  });
});
