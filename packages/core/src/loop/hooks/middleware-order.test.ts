/** The middleware contract: in which order hooks run, and what each sees of the others. */
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

const ask = (text = "Go.") => ({ messages: [new HumanMessage(text)] });
const ping = tool(() => "pong", { name: "ping", description: "Pings.", schema: z.object({}) });

/** A middleware with every hook, noting when it runs. */
function noting(name: string, log: string[]) {
  const note = (hook: string) => void log.push(`${name}.${hook}`);
  return createMiddleware({
    name,
    beforeAgent: () => note("beforeAgent"),
    beforeModel: () => note("beforeModel"),
    afterModel: () => note("afterModel"),
    afterAgent: () => note("afterAgent"),
    wrapModelCall: async (request, handler) => {
      note("model(");
      const reply = await handler(request);
      note("model)");
      return reply;
    },
    wrapToolCall: async (request, handler) => {
      note("tool(");
      const result = await handler(request);
      note("tool)");
      return result;
    },
  });
}

describe("the order of hooks", () => {
  test("before in order, after in reverse, the first wrap outermost", async () => {
    const log: string[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ping"), say("done")]),
      tools: [ping],
      middleware: [noting("a", log), noting("b", log)],
    });
    await agent.invoke(ask());
    const turn = [
      "a.beforeModel",
      "b.beforeModel",
      "a.model(",
      "b.model(",
      "b.model)",
      "a.model)",
      "b.afterModel",
      "a.afterModel",
    ];
    expect(log).toEqual([
      "a.beforeAgent",
      "b.beforeAgent",
      ...turn,
      "a.tool(",
      "b.tool(",
      "b.tool)",
      "a.tool)",
      ...turn,
      "b.afterAgent",
      "a.afterAgent",
    ]);
  });

  test("beforeAgent and afterAgent run once a run, also when a person is asked in between", async () => {
    const log: string[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ping"), say("done")]),
      tools: [ping],
      middleware: [noting("a", log)],
      interruptOn: { ping: true },
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(ask(), thread);
    await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread);
    expect(log.filter((line) => line.endsWith("Agent"))).toEqual(["a.beforeAgent", "a.afterAgent"]);
  });

  test("a middleware may have any one hook alone", async () => {
    for (const hook of ["beforeAgent", "beforeModel", "afterModel", "afterAgent"] as const) {
      const runs: string[] = [];
      const agent = createDeepAgent({
        model: scriptedModel([callTool("ping"), say("done")]),
        tools: [ping],
        middleware: [createMiddleware({ name: hook, [hook]: () => void runs.push(hook) })],
      });
      expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("done");
      expect(runs).toEqual(hook.endsWith("Model") ? [hook, hook] : [hook]);
    }
  });
});

describe("what hooks see", () => {
  const counting = (name: string, seen: number[]) =>
    createMiddleware({
      name,
      stateSchema: z.object({ count: z.number().default(0) }),
      beforeModel: (state) => {
        seen.push(state.count);
        return { count: state.count + 1 };
      },
      afterModel: (state) => {
        seen.push(state.count);
        return { count: state.count + 10 };
      },
    });

  test("a later hook sees what an earlier one changed, in the same superstep", async () => {
    const seen: number[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      middleware: [counting("a", seen), counting("b", seen)],
    });
    const result = await agent.invoke(ask());
    expect(seen).toEqual([0, 1, 2, 12]);
    expect(result.count).toBe(22);
  });

  test("messages a hook adds, replaces or removes are so for the next hook and the model", async () => {
    const model = scriptedModel([say("done")]);
    const seen: string[][] = [];
    const agent = createDeepAgent({
      model,
      middleware: [
        createMiddleware({
          name: "adds",
          beforeModel: () => ({ messages: [{ role: "user", content: "added" }] as never }),
        }),
        createMiddleware({
          name: "replaces",
          beforeModel: ({ messages }) => ({
            messages: [
              new HumanMessage({ id: messages[0]?.id as string, content: "replaced" }),
              new RemoveMessage({ id: messages[1]?.id as string }),
            ],
          }),
        }),
        createMiddleware({
          name: "looks",
          beforeModel: ({ messages }) => void seen.push(messages.map((m) => `${m.text}:${Boolean(m.id)}`)),
        }),
      ],
    });
    const { messages } = await agent.invoke({ messages: ["first", "second"] });
    expect(seen).toEqual([["replaced:true", "added:true"]]);
    expect(model.calls[0]?.messages.slice(1).map((m) => m.text)).toEqual(["replaced", "added"]);
    expect(messages.map((m) => m.text)).toEqual(["replaced", "added", "done"]);
  });

  test("afterModel may answer a call itself, and the other calls run", async () => {
    let runs = 0;
    const counted = tool(() => `run ${++runs}`, {
      name: "counted",
      description: "Counts.",
      schema: z.object({}),
    });
    const agent = createDeepAgent({
      model: scriptedModel([
        {
          toolCalls: [
            { name: "counted", id: "a" },
            { name: "counted", id: "b" },
          ],
        },
        say("done"),
      ]),
      tools: [counted],
      middleware: [
        createMiddleware({
          name: "answers",
          afterModel: ({ messages }) => {
            const calls = AIMessage.isInstance(messages.at(-1))
              ? (messages.at(-1) as AIMessage).tool_calls
              : [];
            if (!calls?.length) return undefined;
            return { messages: [new ToolMessage({ content: "answered by a hook", tool_call_id: "b" })] };
          },
        }),
      ],
    });
    const { messages } = await agent.invoke(ask());
    expect(runs).toBe(1);
    expect(messages.filter(ToolMessage.isInstance).map((m) => m.text)).toEqual([
      "run 1",
      "answered by a hook",
    ]);
  });

  test("afterModel may replace the reply; the calls of the new one run", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("I do nothing."), say("done")]),
      tools: [ping],
      middleware: [
        createMiddleware({
          name: "insists",
          afterModel: ({ messages }) => {
            const last = messages.at(-1);
            if (last?.text !== "I do nothing.") return undefined;
            const tool_calls = [{ name: "ping", args: {}, id: "p" }];
            return { messages: [new AIMessage({ id: last.id as string, content: "", tool_calls })] };
          },
        }),
      ],
    });
    const { messages } = await agent.invoke(ask());
    expect(messages.map((m) => m.text)).toEqual(["Go.", "", "pong", "done"]);
  });

  test("a hook that throws rejects the run, and nothing of its phase is written", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      middleware: [
        createMiddleware({
          name: "writes",
          stateSchema: z.object({ mark: z.string().optional() }),
          beforeModel: () => ({ mark: "written" }),
        }),
        createMiddleware({
          name: "throws",
          beforeModel: () => {
            throw new RangeError("not today");
          },
        }),
      ],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    await expect(agent.invoke(ask(), thread)).rejects.toThrow(RangeError);
    expect((await agent.getState(thread)).values.mark).toBeUndefined();
  });

  test.each([["a string"], [[1, 2]], [42], [true]])(
    "a hook that returns %j is a typed error",
    async (value) => {
      const middleware = createMiddleware({ name: "odd", beforeModel: () => value as never });
      const agent = createDeepAgent({ model: scriptedModel([say("done")]), middleware: [middleware] });
      await expect(agent.invoke(ask())).rejects.toMatchObject({
        name: "DeepwrightError",
        code: "INVALID_MIDDLEWARE_RESULT",
        message: expect.stringContaining("'odd'"),
      });
    },
  );

  test("keys the state does not have are ignored", async () => {
    const middleware = createMiddleware({ name: "odd", beforeModel: () => ({ nonsense: 1 }) as never });
    const agent = createDeepAgent({ model: scriptedModel([say("done")]), middleware: [middleware] });
    expect(await agent.invoke(ask())).not.toHaveProperty("nonsense");
  });

  test("the runtime has context, store, configurable, writer, interrupt and signal", async () => {
    const seen: Record<string, unknown>[] = [];
    const written: unknown[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ping"), say("done")]),
      tools: [ping],
      middleware: [
        createMiddleware({
          name: "looks",
          beforeModel: (_, runtime) => {
            seen.push(runtime as never);
            runtime.writer?.("from a hook");
          },
          wrapModelCall: (request, handler) => {
            seen.push(request.runtime as never);
            return handler(request);
          },
          wrapToolCall: (request, handler) => {
            seen.push(request.runtime as never);
            return handler(request);
          },
        }),
      ],
    });
    const options = {
      context: { user: "ann" },
      configurable: { thread_id: "t" },
      streamMode: "custom" as const,
    };
    for await (const chunk of await agent.stream(ask(), options)) written.push(chunk);
    expect(written).toEqual(["from a hook", "from a hook"]);
    expect(seen).toHaveLength(5);
    for (const runtime of seen) {
      expect(runtime.context).toEqual({ user: "ann" });
      expect(runtime.configurable).toMatchObject({ thread_id: "t" });
      expect(runtime.signal).toBeInstanceOf(AbortSignal);
      expect(typeof runtime.interrupt).toBe("function");
    }
  });
});

describe("supersteps", () => {
  async function supersteps(agent: ReturnType<typeof createDeepAgent>) {
    const nodes: string[] = [];
    for await (const update of await agent.stream(ask(), { streamMode: "updates" }))
      nodes.push(...Object.keys(update));
    return nodes;
  }
  const script = () => scriptedModel([callTool("write_todos", { todos: [] }), callTool("ls"), say("done")]);

  test("a turn with the default stack is two: the model and the tools", async () => {
    expect(await supersteps(createDeepAgent({ model: script() }))).toEqual([
      "model_request",
      "tools",
      "model_request",
      "tools",
      "model_request",
    ]);
    const checkpointer = new MemorySaver();
    const agent = createDeepAgent({ model: script(), checkpointer });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(ask(), thread);
    let last = 0;
    for await (const { metadata } of agent.getStateHistory(thread))
      last = Math.max(last, metadata?.step ?? 0);
    expect(last).toBe(5);
  });

  test("hooks of one phase share one superstep; wraps cost none", async () => {
    const log: string[] = [];
    const wraps = createMiddleware({
      name: "wraps",
      wrapModelCall: (request, handler) => handler(request),
      wrapToolCall: (request, handler) => handler(request),
    });
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      middleware: [noting("a", log), wraps, noting("b", log), noting("c", log)],
    });
    expect(await supersteps(agent as never)).toEqual([
      "before_agent",
      "before_model",
      "model_request",
      "after_model",
      "after_agent",
    ]);
  });
});
