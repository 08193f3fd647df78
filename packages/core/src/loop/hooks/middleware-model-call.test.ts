/** The middleware contract: wrapModelCall. */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, END } from "@langchain/langgraph";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";

const ask = (text = "Go.") => ({ messages: [new HumanMessage(text)] });
const ping = tool(() => "pong", { name: "ping", description: "Pings.", schema: z.object({}) });
const wrapping = (wrapModelCall: AgentMiddleware["wrapModelCall"], name = "wrapping") =>
  createMiddleware({ name, wrapModelCall: wrapModelCall as never });
const texts = (messages: readonly { text: string }[] | undefined) => messages?.map((m) => m.text);

describe("the request", () => {
  test("has model, messages, prompt, tools, state and runtime", async () => {
    const model = scriptedModel([say("done")]);
    let seen: Record<string, any> = {};
    const agent = createDeepAgent({
      model,
      tools: [ping],
      systemPrompt: "Be brief.",
      stateSchema: z.object({ depth: z.number().default(3) }),
      middleware: [
        wrapping((request, handler) => {
          seen = { ...request };
          return handler(request);
        }),
      ],
    });
    await agent.invoke(ask());
    expect(seen.model).toBe(model);
    expect(texts(seen.messages)).toEqual(["Go."]);
    expect(seen.systemPrompt).toBe(agent.describe().systemPrompt);
    expect(seen.systemMessage).toBeInstanceOf(SystemMessage);
    expect(seen.systemMessage.text).toBe(seen.systemPrompt);
    expect(seen.tools).toContain(ping);
    expect({ ...seen.state }).toMatchObject({ depth: 3, todos: [], files: {} });
    expect(seen.runtime.context).toEqual({});
  });

  test("another model may answer", async () => {
    const first = scriptedModel([]);
    const second = scriptedModel([say("from the second")]);
    const agent = createDeepAgent({
      model: first,
      tools: [ping],
      middleware: [wrapping((request, handler) => handler({ ...request, model: second as never }))],
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("from the second");
    expect(first.callCount).toBe(0);
    expect(second.calls[0]?.tools).toContain(ping);
  });

  test("systemPrompt or systemMessage may be changed, and the next sees both agree", async () => {
    const model = scriptedModel([say("done")]);
    const seen: string[] = [];
    const look = (name: string) =>
      wrapping((request, handler) => {
        seen.push(request.systemPrompt as string, request.systemMessage.text);
        return handler(request);
      }, name);
    const agent = createDeepAgent({
      model,
      middleware: [
        wrapping((request, handler) => handler({ ...request, systemPrompt: "first" }), "a"),
        look("b"),
        wrapping(
          (request, handler) => handler({ ...request, systemMessage: new SystemMessage("second") }),
          "c",
        ),
        look("d"),
      ],
    });
    await agent.invoke(ask());
    expect(seen).toEqual(["first", "first", "second", "second"]);
    expect(model.calls[0]?.messages[0]?.text).toBe("second");
  });

  test("changing both at once is a typed error", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      middleware: [
        wrapping((request, handler) =>
          handler({ ...request, systemPrompt: "a", systemMessage: new SystemMessage("b") }),
        ),
      ],
    });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "INVALID_MIDDLEWARE_RESULT" });
  });

  test("an empty prompt means no system message", async () => {
    const model = scriptedModel([say("done")]);
    const middleware = [wrapping((request, handler) => handler({ ...request, systemPrompt: "" }))];
    await createDeepAgent({ model, middleware }).invoke(ask());
    expect(model.calls[0]?.messages.map((m) => m.type)).toEqual(["human"]);
  });

  test("blocks of the system message, with their cache markers, reach the model, also with fewer tools", async () => {
    const blocks = [{ type: "text" as const, text: "Be brief.", cache_control: { type: "ephemeral" } }];
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [ping],
      systemPrompt: new SystemMessage({ content: blocks }),
      middleware: [
        wrapping(
          (request, handler) =>
            handler({ ...request, systemMessage: request.systemMessage.concat("\n\nMore.") }),
          "adds",
        ),
        wrapping((request, handler) => handler({ ...request, tools: [ping] }), "narrows"),
      ],
    });
    await agent.invoke(ask());
    const system = model.calls[0]?.messages[0];
    expect(system?.content).toContainEqual(blocks[0]);
    expect(system?.text).toMatch(/More\.$/);
    expect(system?.text).not.toMatch(/## Files/);
  });

  test("messages may be changed for this request only, in place or not", async () => {
    const model = scriptedModel([callTool("ping", {}, "a"), callTool("ping", {}, "b"), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [ping],
      middleware: [
        wrapping((request, handler) => {
          if (request.messages.length > 3) request.messages.splice(1, 2);
          return handler(request);
        }),
      ],
    });
    const { messages } = await agent.invoke(ask());
    expect(messages).toHaveLength(6);
    expect(model.calls[2]?.messages.map((m) => m.type)).toEqual(["system", "human", "ai", "tool"]);
  });

  test.each(["in place", "in a copy"])(
    "cut through the middle of a turn %s, it is made valid again",
    async (way) => {
      const model = scriptedModel([callTool("ping", {}, "a"), callTool("ping", {}, "b"), say("done")]);
      const agent = createDeepAgent({
        model,
        tools: [ping],
        middleware: [
          wrapping((request, handler) => {
            if (request.messages.length < 5) return handler(request);
            const messages = way === "in place" ? request.messages : [...request.messages];
            messages.splice(1, 1);
            return handler({ ...request, messages });
          }),
        ],
      });
      await agent.invoke(ask());
      expect(model.violations).toEqual([]);
      expect(model.calls[2]?.messages.map((m) => m.type)).toEqual(["system", "human", "ai", "tool"]);
    },
  );

  test("lists edited in place are edited for this request only", async () => {
    const model = scriptedModel([say("one"), say("two")]);
    let edits = 1;
    const agent = createDeepAgent({
      model,
      middleware: [
        wrapping((request, handler) => {
          if (edits-- > 0) request.tools.splice(0, request.tools.length, ping);
          return handler(request);
        }),
      ],
    });
    await agent.invoke(ask());
    await agent.invoke(ask());
    expect(model.calls[0]?.tools).toEqual([ping]);
    expect(model.calls[0]?.messages[0]?.text).not.toMatch(/## Files/);
    expect(model.calls[1]?.tools).toHaveLength(agent.describe().tools.length);
    expect(model.calls[1]?.messages[0]?.text).toBe(agent.describe().systemPrompt);
  });

  test("modelSettings and toolChoice reach the model", async () => {
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({
      model,
      middleware: [
        wrapping((request, handler) =>
          handler({ ...request, modelSettings: { temperature: 0.5 }, toolChoice: "none" as never }),
        ),
      ],
    });
    await agent.invoke(ask());
    expect(model.calls[0]?.options).toMatchObject({ temperature: 0.5, tool_choice: "none" });
  });
});

describe("the handler", () => {
  test("may be called twice; the reply that is returned counts", async () => {
    const model = scriptedModel([say("first"), say("second")]);
    const agent = createDeepAgent({
      model,
      middleware: [
        wrapping(async (request, handler) => {
          const first = await handler(request);
          await handler({ ...request, messages: [...request.messages, new HumanMessage("Again?")] });
          return first;
        }),
      ],
    });
    expect(texts((await agent.invoke(ask())).messages)).toEqual(["Go.", "first"]);
    expect(model.callCount).toBe(2);
  });

  test("need not be called", async () => {
    const model = scriptedModel([]);
    const agent = createDeepAgent({ model, middleware: [wrapping(() => new AIMessage("canned"))] });
    const result = await agent.invoke(ask());
    expect(texts(result.messages)).toEqual(["Go.", "canned"]);
    expect(result.messages.at(-1)?.id).toBeTruthy();
    expect(result.outcome.kind).toBe("done");
  });

  test("an error of the model passes through every wrap and may be caught", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([fault.status(400)]),
      middleware: [
        wrapping(async (request, handler) => {
          try {
            return await handler(request);
          } catch (error) {
            return new AIMessage(`caught ${(error as { status: number }).status}`);
          }
        }, "outer"),
        wrapping((request, handler) => handler(request), "inner"),
      ],
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("caught 400");
  });

  test("a reply with calls made up by a middleware is treated like the model's", async () => {
    const replies = [
      new AIMessage({ content: "", tool_calls: [{ name: "ping", args: {} }] }),
      new AIMessage("done"),
    ];
    const agent = createDeepAgent({
      model: scriptedModel([]),
      tools: [ping],
      middleware: [wrapping(() => replies.shift() as AIMessage)],
    });
    const { messages } = await agent.invoke(ask());
    expect(texts(messages)).toEqual(["Go.", "", "pong", "done"]);
    expect(messages.filter(ToolMessage.isInstance)[0]?.tool_call_id).toBeTruthy();
  });

  test.each([["a string"], [undefined], [{ content: "x" }], [new HumanMessage("x")]])(
    "a result that is %j is a typed error",
    async (value) => {
      const agent = createDeepAgent({
        model: scriptedModel([say("done")]),
        middleware: [wrapping(() => value as never, "odd")],
      });
      await expect(agent.invoke(ask())).rejects.toMatchObject({
        code: "INVALID_MIDDLEWARE_RESULT",
        message: expect.stringContaining("'odd'"),
      });
    },
  );
});

describe("a Command from wrapModelCall", () => {
  const stateSchema = z.object({ note: z.string().default("") });

  test("beside the model's reply: its update is written, and the loop goes on", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ping"), say("done")]),
      tools: [ping],
      stateSchema,
      middleware: [
        wrapping(async (request, handler) => {
          await handler(request);
          return new Command({ update: { note: `${request.messages.length} messages` } }) as never;
        }),
      ],
    });
    const result = await agent.invoke(ask());
    expect(texts(result.messages)).toEqual(["Go.", "", "pong", "done"]);
    expect(result.note).toBe("3 messages");
  });

  test("the wraps around it get the model's reply", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      stateSchema,
      middleware: [
        wrapping(async (request, handler) => {
          const reply = await handler(request);
          seen.push((reply as AIMessage).text);
          return reply;
        }, "outer"),
        wrapping(async (request, handler) => {
          await handler(request);
          return new Command({ update: { note: "noted" } }) as never;
        }, "inner"),
      ],
    });
    expect((await agent.invoke(ask())).note).toBe("noted");
    expect(seen).toEqual(["done"]);
  });

  test("instead of a reply: messages of its own, and where to go", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([]),
      stateSchema,
      middleware: [
        wrapping(
          () =>
            new Command({ update: { messages: [new AIMessage("canned")], note: "x" }, goto: END }) as never,
        ),
      ],
    });
    const result = await agent.invoke(ask());
    expect(texts(result.messages)).toEqual(["Go.", "canned"]);
    expect(result.outcome).toBeDefined();
  });
});
