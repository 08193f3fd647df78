/** The middleware contract: jumping out of the usual order. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, type Script, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });
const HOOKS = ["beforeAgent", "beforeModel", "afterModel", "afterAgent"] as const;
const TARGETS = ["model", "tools", "end"] as const;
type Hook = (typeof HOOKS)[number];
type Target = (typeof TARGETS)[number];

interface Jump {
  readonly hook: Hook;
  readonly to: string;
  readonly canJumpTo?: readonly Target[];
  /** Messages the hook adds when it jumps. */
  readonly adds?: readonly BaseMessage[];
}

/** A middleware that jumps the first time its hook runs. */
function jumpOnce({ hook, to, canJumpTo = ["model", "tools", "end"], adds = [] }: Jump) {
  let jumped = false;
  return createMiddleware({
    name: "jumper",
    [hook]: {
      canJumpTo: [...canJumpTo],
      hook: () => {
        if (jumped) return undefined;
        jumped = true;
        return { jumpTo: to, ...(adds.length > 0 ? { messages: [...adds] } : {}) };
      },
    },
  });
}

function setUp(script: Script, jump: Jump) {
  const model = scriptedModel(script);
  const log: string[] = [];
  let pings = 0;
  const ping = tool(() => `pong ${++pings}`, { name: "ping", description: "Pings.", schema: z.object({}) });
  const noting = createMiddleware({
    name: "noting",
    beforeAgent: () => void log.push("beforeAgent"),
    beforeModel: () => void log.push("beforeModel"),
    afterModel: () => void log.push("afterModel"),
    afterAgent: () => void log.push("afterAgent"),
  });
  const agent = createDeepAgent({ model, tools: [ping], middleware: [jumpOnce(jump), noting] });
  return { agent, model, log, pings: () => pings };
}

const texts = (messages: readonly { text: string }[]) => messages.map((message) => message.text);
const call = (id: string) => new AIMessage({ content: "", tool_calls: [{ name: "ping", args: {}, id }] });

describe("jumpTo end", () => {
  test("from beforeAgent: the model is not asked, and the hook's words are the last", async () => {
    const { agent, model, log } = setUp([], {
      hook: "beforeAgent",
      to: "end",
      adds: [new AIMessage("We are closed.")],
    });
    const result = await agent.invoke(ask());
    expect(texts(result.messages)).toEqual(["Go.", "We are closed."]);
    expect(result.outcome).toEqual({ kind: "done" });
    expect(model.callCount).toBe(0);
    expect(log).toEqual(["afterAgent"]);
  });

  test("from beforeModel without a word: the outcome says that the model was not asked", async () => {
    const { agent, log } = setUp([], { hook: "beforeModel", to: "end" });
    const result = await agent.invoke(ask());
    expect(result.outcome.kind).toBe("empty");
    expect(log).toEqual(["beforeAgent", "afterAgent"]);
  });

  test("from afterModel: the calls of the reply do not run", async () => {
    const { agent, pings, log } = setUp([callTool("ping")], { hook: "afterModel", to: "end" });
    const result = await agent.invoke(ask());
    expect(pings()).toBe(0);
    expect(result.messages.at(-1)?.type).toBe("ai");
    expect(log).toEqual(["beforeAgent", "beforeModel", "afterModel", "afterAgent"]);
  });

  test("from afterAgent: the hooks behind it are skipped", async () => {
    const order: string[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      middleware: [
        createMiddleware({ name: "skipped", afterAgent: () => void order.push("skipped") }),
        jumpOnce({ hook: "afterAgent", to: "end" }),
      ],
    });
    expect((await agent.invoke(ask())).outcome.kind).toBe("done");
    expect(order).toEqual([]);
  });
});

describe("jumpTo model", () => {
  test("from beforeAgent: the turn begins with its beforeModel hooks", async () => {
    const { agent, log } = setUp([say("done")], { hook: "beforeAgent", to: "model" });
    expect(texts((await agent.invoke(ask())).messages)).toEqual(["Go.", "done"]);
    expect(log).toEqual(["beforeModel", "afterModel", "afterAgent"]);
  });

  test("from beforeModel: the hooks behind it are skipped", async () => {
    const { agent, log } = setUp([say("done")], { hook: "beforeModel", to: "model" });
    expect(texts((await agent.invoke(ask())).messages)).toEqual(["Go.", "done"]);
    expect(log).toEqual(["beforeAgent", "afterModel", "afterAgent"]);
  });

  test("from afterModel: the model is asked again, and calls that were passed over are closed", async () => {
    const { agent, pings, model } = setUp([callTool("ping", {}, "p"), say("done")], {
      hook: "afterModel",
      to: "model",
    });
    const { messages } = await agent.invoke(ask());
    expect(pings()).toBe(0);
    expect(model.callCount).toBe(2);
    const answer = messages.find(ToolMessage.isInstance);
    expect(answer).toMatchObject({ tool_call_id: "p", status: "error" });
    expect(answer?.text).toMatch(/did not run/);
  });

  test("from afterAgent: another turn, and afterAgent runs again", async () => {
    const { agent, log } = setUp([say("first"), say("second")], { hook: "afterAgent", to: "model" });
    const result = await agent.invoke(ask());
    expect(texts(result.messages)).toEqual(["Go.", "first", "second"]);
    expect(log.filter((hook) => hook === "afterAgent")).toHaveLength(2);
    expect(log.filter((hook) => hook === "beforeAgent")).toHaveLength(1);
  });
});

describe("jumpTo tools", () => {
  test.each(["beforeAgent", "beforeModel", "afterModel", "afterAgent"] as const)(
    "from %s: the calls of the message it added run, then the model is asked",
    async (hook) => {
      const after = hook.startsWith("after");
      const adds = [...(after ? [new HumanMessage("And?")] : []), call("hook-call")];
      const { agent, pings } = setUp([...(after ? [say("first")] : []), say("done")], {
        hook,
        to: "tools",
        adds,
      });
      const { messages } = await agent.invoke(ask());
      expect(pings()).toBe(1);
      expect(texts(messages)).toEqual(["Go.", ...(after ? ["first", "And?"] : []), "", "pong 1", "done"]);
    },
  );

  test("with nothing to run it is the next turn", async () => {
    const { agent } = setUp([say("first"), say("second")], { hook: "afterModel", to: "tools" });
    expect(texts((await agent.invoke(ask())).messages)).toEqual(["Go.", "first", "second"]);
  });
});

describe("canJumpTo", () => {
  const refused = HOOKS.flatMap((hook) =>
    TARGETS.map((to) => [hook, to, TARGETS.filter((target) => target !== to)] as const),
  );

  test.each(refused)("%s may not jump to %s when it declares %j", async (hook, to, canJumpTo) => {
    const { agent } = setUp([say("done")], { hook, to, canJumpTo });
    await expect(agent.invoke(ask())).rejects.toMatchObject({
      name: "DeepwrightError",
      code: "INVALID_JUMP",
      message: expect.stringMatching(
        new RegExp(`'${hook}'.*'jumper'.*'${to}'.*\\[${canJumpTo.join(", ")}\\]`),
      ),
    });
  });

  test("a hook that declares nothing may not jump", async () => {
    const middleware = createMiddleware({ name: "plain", beforeModel: () => ({ jumpTo: "end" }) as never });
    const agent = createDeepAgent({ model: scriptedModel([say("done")]), middleware: [middleware] });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "INVALID_JUMP" });
  });

  test("a target that does not exist is refused", async () => {
    const { agent } = setUp([say("done")], { hook: "beforeModel", to: "nowhere" });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "INVALID_JUMP" });
  });
});
