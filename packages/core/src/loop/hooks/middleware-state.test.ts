/** The middleware contract: state of its own in every kind of schema, and context. */
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, Command, MemorySaver, ReducedValue, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import * as z3 from "zod/v3";
import { createDeepAgent } from "../../agent.ts";
import { stampOf } from "../../channel-values.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });
const thread = (id = "t") => ({ configurable: { thread_id: id } });
const done = () => scriptedModel([say("done")], { loop: true });
const append = (left: string[], right: string[]) => [...left, ...right];

describe("what a hook edits in place and returns", () => {
  test.each<[string, (state: any) => object]>([
    [
      "the list of messages",
      (state) => {
        state.messages[0].content = "edited";
        return { messages: state.messages };
      },
    ],
    [
      "a message",
      (state) => {
        state.messages[0].content = "edited";
        return { messages: [state.messages[0]] };
      },
    ],
    [
      "a list it has added to",
      (state) => {
        state.messages[0].content = "edited";
        state.messages.push(new HumanMessage("added"));
        return { messages: state.messages };
      },
    ],
    [
      "the files",
      (state) => {
        state.files["/a"].content = "edited";
        return { files: state.files };
      },
    ],
  ])("%s: is noted as come in again", async (_, edit) => {
    let before: { value: object; stamp: number | undefined }[] = [];
    const middleware = createMiddleware({
      name: "edits",
      beforeAgent: (state: any) => {
        const values = [state.messages[0], state.files["/a"]];
        before = values.map((value) => ({ value, stamp: stampOf(value) }));
        return edit(state) as never;
      },
    });
    const agent = createDeepAgent({
      model: done(),
      middleware: [middleware],
      checkpointer: new MemorySaver(),
    });
    const file = { content: "a", created_at: "t", modified_at: "t" };
    await agent.invoke({ ...ask(), files: { "/a": file } }, thread());
    const returned = before.filter(({ value, stamp }) => stampOf(value) !== stamp);
    expect(returned).toMatchObject([{ value: { content: "edited" } }]);
    const { messages, files } = (await agent.getState(thread())).values;
    const texts = messages.map((message: HumanMessage) => message.content);
    expect([...texts, files["/a"].content].filter((text) => text === "edited")).toHaveLength(1);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe("stateSchema", () => {
  const log = () =>
    new ReducedValue(
      z.array(z.string()).default(() => []),
      { inputSchema: z.array(z.string()), reducer: append },
    );
  const schemas = {
    "zod 4": z.object({ log: z.array(z.string()).default([]) }),
    "zod 3": z3.object({ log: z3.array(z3.string()).default([]) }),
    StateSchema: new StateSchema({ log: z.array(z.string()).default([]) }),
    Annotation: Annotation.Root({
      log: Annotation<string[]>({ reducer: (_, next) => next, default: () => [] }),
    }),
  };

  test.each(Object.entries(schemas))("%s: has its default, takes updates and input", async (_, schema) => {
    const seen: unknown[] = [];
    const middleware = createMiddleware({
      name: "logs",
      stateSchema: schema as never,
      beforeModel: (state: any) => {
        seen.push(state.log);
        return { log: [...state.log, "hook"] } as never;
      },
    });
    const agent = createDeepAgent({ model: done(), middleware: [middleware] });
    expect(await agent.invoke(ask())).toMatchObject({ log: ["hook"] });
    expect(await agent.invoke({ ...ask(), log: ["given"] } as never)).toMatchObject({
      log: ["given", "hook"],
    });
    expect(seen).toEqual([[], ["given"]]);
  });

  test.each(Object.entries(schemas))("%s: may be the agent's own, for tools to write", async (_, schema) => {
    const write = tool(() => new Command({ update: { log: ["tool"] } }), {
      name: "write",
      description: "Writes.",
      schema: z.object({}),
    });
    const agent = createDeepAgent({
      model: scriptedModel([callTool("write"), say("done")]),
      tools: [write],
      stateSchema: schema as never,
    });
    expect(await agent.invoke(ask())).toMatchObject({ log: ["tool"] });
  });

  test("a ReducedValue reduces what hooks, tools and callers write", async () => {
    const write = tool(() => new Command({ update: { log: ["tool"] } }), {
      name: "write",
      description: "Writes.",
      schema: z.object({}),
    });
    const middleware = createMiddleware({
      name: "logs",
      stateSchema: new StateSchema({ log: log() }),
      beforeModel: () => ({ log: ["before"] }),
      afterModel: () => ({ log: ["after"] }),
    });
    const agent = createDeepAgent({
      model: scriptedModel([{ toolCalls: [{ name: "write" }, { name: "write" }] }, say("done")]),
      tools: [write],
      middleware: [middleware],
    });
    const result = await agent.invoke({ ...ask(), log: ["given"] } as never);
    expect(result.log).toEqual(["given", "before", "after", "tool", "tool", "before", "after"]);
  });

  test("two middlewares may share a key", async () => {
    const sharing = (name: string) =>
      createMiddleware({
        name,
        stateSchema: z.object({ shared: z.string().default("") }),
        beforeModel: (state) => ({ shared: `${state.shared}${name}` }),
      });
    const agent = createDeepAgent({ model: done(), middleware: [sharing("a"), sharing("b")] });
    expect((await agent.invoke(ask())).shared).toBe("ab");
  });

  test("defaults are made anew for each thread", async () => {
    const middleware = createMiddleware({
      name: "mutates",
      stateSchema: z.object({ list: z.array(z.string()).default(() => []) }),
      beforeModel: (state) => {
        state.list.push("careless");
      },
    });
    const agent = createDeepAgent({
      model: done(),
      middleware: [middleware],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), thread("one"));
    const second = await agent.invoke(ask(), thread("two"));
    expect(second.list.length).toBeLessThanOrEqual(1);
  });

  test("the state stays in the thread and apart from other threads", async () => {
    const middleware = createMiddleware({
      name: "counts",
      stateSchema: z.object({ runs: z.number().default(0) }),
      beforeAgent: (state) => ({ runs: state.runs + 1 }),
    });
    const agent = createDeepAgent({
      model: done(),
      middleware: [middleware],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), thread("one"));
    expect((await agent.invoke(ask(), thread("one"))).runs).toBe(2);
    expect((await agent.invoke(ask(), thread("two"))).runs).toBe(1);
  });

  test("input that does not fit is refused before the model is asked, and the field is named", async () => {
    const model = done();
    const agent = createDeepAgent({ model, stateSchema: z.object({ depth: z.number() }) });
    await expect(agent.invoke({ ...ask(), depth: "deep" as never })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringMatching(/'depth'.*number/),
    });
    expect(model.callCount).toBe(0);
  });

  test("a schema that is none is refused when the agent is built", () => {
    expect(() => createDeepAgent({ stateSchema: { depth: "number" } })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
    expect(() => createDeepAgent({ stateSchema: "depth" as never })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });

  test("keys of the loop itself cannot be redefined", async () => {
    const agent = createDeepAgent({
      model: done(),
      stateSchema: z.object({ messages: z.string().default("x"), jumpTo: z.string().default("end") }),
    });
    expect((await agent.invoke(ask() as never)).messages).toHaveLength(2);
  });
});

describe("private keys", () => {
  const secretive = (seen: unknown[]) =>
    createMiddleware({
      name: "secretive",
      stateSchema: z.object({ _secret: z.number().default(7), open: z.number().default(1) }),
      beforeModel: (state) => {
        seen.push(state._secret);
        return { _secret: state._secret + 1, open: state.open + 1 };
      },
    });

  test("they are in no result and no stream, and cannot be set by a caller", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({ model: done(), middleware: [secretive(seen)] });
    const result = await agent.invoke({ ...ask(), _secret: 100, open: 5 } as never);
    expect(result).not.toHaveProperty("_secret");
    expect(result.open).toBe(6);
    expect(seen).toEqual([7]);
    const modes: ("values" | "updates")[] = ["values", "updates"];
    const streamed: unknown[] = [];
    for await (const chunk of await agent.stream(ask(), { streamMode: modes })) streamed.push(chunk);
    expect(JSON.stringify(streamed)).toContain('"open"');
    expect(JSON.stringify(streamed)).not.toContain("_secret");
  });

  test("they stay in the thread", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: done(),
      middleware: [secretive(seen)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), thread());
    await agent.invoke(ask(), thread());
    expect(seen).toEqual([7, 8]);
  });

  test("a Command given as input cannot set them either", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: done(),
      middleware: [secretive(seen)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), thread());
    const goOn = new Command({
      update: { _secret: 100, messages: [new HumanMessage("More.")] },
      goto: "before_model",
    });
    await agent.invoke(goOn, thread());
    expect(seen).toEqual([7, 8]);
  });
});

describe("contextSchema", () => {
  const looking = (seen: unknown[], schema?: unknown) =>
    createMiddleware({
      name: "looking",
      ...(schema ? { contextSchema: schema as never } : {}),
      beforeModel: (_, runtime) => void seen.push(runtime.context),
      wrapModelCall: (request, handler) => {
        seen.push(request.runtime.context);
        return handler(request);
      },
    });

  test("a middleware sees the part its schema names, with defaults", async () => {
    const seen: unknown[] = [];
    const schema = z.object({ user: z.string(), tone: z.string().default("plain") });
    const agent = createDeepAgent({ model: done(), middleware: [looking(seen, schema)] });
    await agent.invoke(ask(), { context: { user: "ann", other: 1 } });
    expect(seen).toEqual([
      { user: "ann", tone: "plain" },
      { user: "ann", tone: "plain" },
    ]);
  });

  test("a strict schema is not upset by what belongs to others", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: done(),
      middleware: [looking(seen, z.strictObject({ user: z.string() }))],
    });
    await agent.invoke(ask(), { context: { user: "ann", other: 1 } });
    expect(seen[0]).toEqual({ user: "ann" });
  });

  test("a middleware without a schema sees all of it, and an empty object when there is none", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({ model: done(), middleware: [looking(seen)] });
    await agent.invoke(ask(), { context: { user: "ann" } });
    await agent.invoke(ask());
    expect(seen).toEqual([{ user: "ann" }, { user: "ann" }, {}, {}]);
  });

  test("a context that does not fit a middleware is an error that names it", async () => {
    const agent = createDeepAgent({
      model: done(),
      middleware: [looking([], z.object({ user: z.string() }))],
    });
    const wrong = { code: "INVALID_INPUT", message: expect.stringMatching(/middleware 'looking'.*user/) };
    await expect(agent.invoke(ask())).rejects.toMatchObject(wrong);
    await expect(agent.invoke(ask(), { context: { user: 5 } })).rejects.toMatchObject(wrong);
  });

  describe("of the agent", () => {
    const contextSchema = z.object({ user: z.string(), tone: z.string().default("plain") });
    const agentWith = (
      seen: unknown[],
      model = scriptedModel([callTool("who"), say("done")], { loop: true }),
    ) => {
      const who = tool((_, runtime) => void seen.push((runtime as { context?: unknown }).context), {
        name: "who",
        description: "Tells who.",
        schema: z.object({}),
      });
      return createDeepAgent({ model, tools: [who], contextSchema, middleware: [looking(seen)] });
    };

    test("reaches tools and middleware with its defaults, and keeps what is for others", async () => {
      const seen: unknown[] = [];
      await agentWith(seen).invoke(ask(), { context: { user: "ann", runLimit: 3 } as never });
      expect(seen).toHaveLength(5);
      for (const context of seen) expect(context).toEqual({ user: "ann", tone: "plain", runLimit: 3 });
    });

    test("may be bound with withConfig", async () => {
      const seen: unknown[] = [];
      await agentWith(seen)
        .withConfig({ context: { user: "bob" } } as never)
        .invoke(ask());
      expect(seen[0]).toEqual({ user: "bob", tone: "plain" });
    });

    test("one that does not fit is refused before the model is asked", async () => {
      const model = done();
      const agent = agentWith([], model);
      for (const context of [{}, { user: 5 }, undefined])
        await expect(agent.invoke(ask(), { context: context as never })).rejects.toMatchObject({
          code: "INVALID_INPUT",
          message: expect.stringMatching(/context.*user/),
        });
      expect(model.callCount).toBe(0);
    });

    test("defaults alone are enough", async () => {
      const seen: unknown[] = [];
      const agent = createDeepAgent({
        model: done(),
        contextSchema: z.object({ tone: z.string().default("plain") }),
        middleware: [looking(seen)],
      });
      await agent.invoke(ask());
      expect(seen[0]).toEqual({ tone: "plain" });
    });
  });
});
