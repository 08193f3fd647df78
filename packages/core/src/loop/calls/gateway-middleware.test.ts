/** Effects of wrapToolCall on a call: still one result, or an error the caller sees and a sound thread. */
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { callTool, say } from "../../testing/index.ts";
import {
  type AgentOptions,
  anyTool,
  ask,
  lastText,
  onThread,
  outline,
  resultsOf,
  scripted,
} from "../fixtures/agents.ts";

type Wrap = (request: any, handler: (request: any) => Promise<any>) => any;

const wrapping = (wrapToolCall: Wrap, name = "Wrapper"): AgentMiddleware =>
  createMiddleware({ name, wrapToolCall: wrapToolCall as never }) as AgentMiddleware;

class PrinterOnFire extends Error {}
const failing = anyTool("failing", () => {
  throw new PrinterOnFire("the printer is on fire");
});
const working = anyTool("working", ({ n = 0 }) => `worked ${n}`);

/** A run of the two tools through the wrapper, the second turn of the model saying "done". */
function wrapped(wrap: Wrap, options: AgentOptions = {}) {
  const calls = {
    toolCalls: [
      { name: "failing", id: "a" },
      { name: "working", id: "b" },
    ],
  };
  return scripted(
    ({ messages }) => (messages.at(-1)?.type === "tool" || asksAgain(messages) ? say("done") : calls),
    {
      tools: [failing, working],
      middleware: [wrapping(wrap)],
      ...options,
    },
  );
}

function asksAgain(messages: readonly { content: unknown }[]): boolean {
  return messages.at(-1)?.content === "Again.";
}

describe("R-28 a wrapper and the errors of a tool", () => {
  test("it sees the tool's own error, and what it rethrows is told to the model", async () => {
    const seen: unknown[] = [];
    const { agent } = wrapped(async (request, handler) => {
      try {
        return await handler(request);
      } catch (error) {
        seen.push(error);
        throw error;
      }
    });
    const state = await agent.invoke(ask());
    expect(seen).toEqual([expect.any(PrinterOnFire)]);
    expect(resultsOf(state.messages).map((result) => result.content)).toEqual([
      "Error: the printer is on fire",
      "worked 0",
    ]);
    expect(lastText(state)).toBe("done");
  });

  test("an error it wraps with the tool's as cause is the tool's failure", async () => {
    const { agent } = wrapped((request, handler) =>
      handler(request).catch((cause) => {
        throw new Error("gave up", { cause: new Error("second try failed", { cause }) });
      }),
    );
    const state = await agent.invoke(ask());
    expect(resultsOf(state.messages)[0]).toMatchObject({
      status: "error",
      content: "Error: the printer is on fire",
    });
  });

  test("a handler called again runs the tool again, and there is one result", async () => {
    let attempts = 0;
    const flaky = anyTool("failing", () => {
      attempts += 1;
      if (attempts < 3) throw new Error("not yet");
      return "at last";
    });
    const retry: Wrap = (request, handler) =>
      handler(request)
        .catch(() => handler(request))
        .catch(() => handler(request));
    const { agent } = wrapped(retry, { tools: [flaky, working] });
    const state = await agent.invoke(ask());
    expect(resultsOf(state.messages).map((result) => result.content)).toEqual(["at last", "worked 0"]);
    expect(attempts).toBe(3);
  });
});

describe("R-28 a wrapper that is at fault itself", () => {
  const FAULTS: readonly (readonly [string, Wrap, object])[] = [
    ["throws", () => Promise.reject(new RangeError("my own bug")), { message: "my own bug" }],
    [
      "throws after the tool ran",
      (r, h) => h(r).then(() => Promise.reject(new Error("late bug"))),
      { message: "late bug" },
    ],
    ["returns text", () => "fine", { code: "INVALID_MIDDLEWARE_RESULT" }],
    ["returns nothing", () => undefined, { code: "INVALID_MIDDLEWARE_RESULT" }],
    ["returns an AIMessage", () => new AIMessage("fine"), { code: "INVALID_MIDDLEWARE_RESULT" }],
  ];

  test.each(FAULTS)(
    "%s: the run fails with that error, and the thread goes on",
    async (_, fault, expected) => {
      const onlyFailing: Wrap = (request, handler) =>
        request.toolCall.name === "working" ? handler(request) : fault(request, () => Promise.resolve("ran"));
      const { agent, model } = wrapped(onlyFailing, { checkpointer: new MemorySaver() });
      await expect(agent.invoke(ask(), onThread("t"))).rejects.toMatchObject(expected);
      const state = await agent.invoke(ask("Again."), onThread("t"));
      expect(outline(state.messages)).toEqual([
        "human Go.",
        "ai → failing working",
        "tool failing failed",
        "tool working ok",
        "human Again.",
        "ai done",
      ]);
      expect(resultsOf(state.messages)[0]?.content).toMatch(/did not complete\. It may have run in part/);
      expect(model.violations).toEqual([]);
    },
  );

  test("one that never answers is stopped by the time limit", async () => {
    const { agent } = wrapped(() => new Promise(() => {}), { toolTimeout: 0.02 });
    const state = await agent.invoke(ask());
    expect(resultsOf(state.messages).map((result) => result.status)).toEqual(["error", "error"]);
    expect(lastText(state)).toBe("done");
  });
});

describe("a wrapper that answers", () => {
  test("without calling the handler: the tool does not run", async () => {
    let runs = 0;
    const counted = anyTool("working", () => {
      runs += 1;
      return "ran";
    });
    const blocked = new ToolMessage({ content: "Not today.", tool_call_id: "whatever", status: "error" });
    const { agent } = wrapped(() => blocked, { tools: [failing, counted] });
    const state = await agent.invoke(ask());
    const results = resultsOf(state.messages);
    expect(results.map((result) => [result.tool_call_id, result.content])).toEqual([
      ["a", "Not today."],
      ["b", "Not today."],
    ]);
    expect(results.map((result) => result.name)).toEqual(["failing", "working"]);
    expect(runs).toBe(0);
  });

  test("with a Command without a result: the call still gets one", async () => {
    const { agent } = wrapped(() => new Command({ update: {} }));
    const state = await agent.invoke(ask());
    expect(outline(state.messages)).toEqual([
      "human Go.",
      "ai → failing working",
      "tool failing ok",
      "tool working ok",
      "ai done",
    ]);
  });

  test("with other arguments and another id: the result answers the call that was made", async () => {
    const { agent } = wrapped((request, handler) =>
      handler({ ...request, toolCall: { ...request.toolCall, args: { n: 7 }, id: "other" } }),
    );
    const results = resultsOf((await agent.invoke(ask())).messages);
    expect(results.map((result) => result.tool_call_id)).toEqual(["a", "b"]);
    expect(results[1]?.content).toBe("worked 7");
  });

  test("for a tool that does not exist", async () => {
    const lending: Wrap = (request, handler) =>
      request.tool ? handler(request) : handler({ ...request, tool: working });
    const { agent } = scripted([callTool("imagined"), say("done")], {
      tools: [working],
      middleware: [wrapping(lending)],
    });
    expect(resultsOf((await agent.invoke(ask())).messages)[0]).toMatchObject({ content: "worked 0" });
  });

  test("the first middleware is the outermost", async () => {
    const order: string[] = [];
    const named = (name: string): AgentMiddleware =>
      wrapping(async (request, handler) => {
        order.push(`${name} in`);
        const result = await handler(request);
        order.push(`${name} out`);
        return result;
      }, name);
    const { agent } = scripted([callTool("working"), say("done")], {
      tools: [working],
      middleware: [named("outer"), named("inner")],
    });
    await agent.invoke(ask());
    expect(order).toEqual(["outer in", "inner in", "inner out", "outer out"]);
  });
});

describe("R-28 a tool that asks and then throws", () => {
  test("is a failed call like any other once it was answered", async () => {
    const asking = anyTool("asking", () => {
      const answer = interrupt("May I?");
      throw new Error(`cannot go on with ${answer}`);
    });
    const { agent, model } = scripted(
      [{ toolCalls: [{ name: "asking" }, { name: "working" }] }, say("done")],
      {
        tools: [asking, working],
        checkpointer: new MemorySaver(),
      },
    );
    const paused = await agent.invoke(ask(), onThread("t"));
    expect(paused.__interrupt__).toMatchObject([{ value: "May I?" }]);
    const state = await agent.invoke(new Command({ resume: "yes" }), onThread("t"));
    expect(resultsOf(state.messages).map((result) => result.content)).toEqual([
      "Error: cannot go on with yes",
      "worked 0",
    ]);
    expect([lastText(state), model.callCount]).toEqual(["done", 2]);
    expect((await agent.getState(onThread("t"))).next).toEqual([]);
  });
});
