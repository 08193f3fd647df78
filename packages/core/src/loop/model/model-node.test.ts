import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, onThread, outline, scripted } from "../fixtures/agents.ts";

const calls = (name: string, args: Record<string, unknown> = {}) =>
  new AIMessage({ content: "", tool_calls: [{ id: "c", name, args }] });

/** Gives `reply` to whoever asks, and the model's own words once a tool has answered. */
function repeating(reply: AIMessage) {
  return createMiddleware({
    name: "Repeating",
    wrapModelCall: (request, handler) =>
      request.messages.at(-1)?.type === "tool" ? handler(request) : reply,
  });
}

describe("a reply that was given before", () => {
  test.each([
    ["one and the same message", () => repeating(new AIMessage("Sorry."))],
    [
      "a new message with an old id",
      () =>
        createMiddleware({ name: "One", wrapModelCall: () => new AIMessage({ id: "1", content: "Sorry." }) }),
    ],
  ])("stands behind the question it answers: %s", async (_, middleware) => {
    const { agent } = scripted([], { middleware: [middleware()], checkpointer: new MemorySaver() });
    await agent.invoke(ask("One."), onThread("t"));
    const { messages } = (await agent.invoke(ask("Two."), onThread("t"))) as AgentState;
    expect(outline(messages)).toEqual(["human One.", "ai Sorry.", "human Two.", "ai Sorry."]);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(4);
  });

  test("shares nothing between threads: the tools of one do not wait for those of the other", async () => {
    const stop = new AbortController();
    let isStuck = false;
    const waits = anyTool("waits", (_, { configurable }) => {
      if (configurable.thread_id !== "stuck") return "ran";
      isStuck = true;
      return new Promise(() => undefined);
    });
    const middleware = [repeating(calls("waits"))];
    const { agent } = scripted([say("done")], {
      ...{ tools: [waits], middleware, toolConcurrency: 1, checkpointer: new MemorySaver() },
    });
    const stuck = agent.invoke(ask(), { ...onThread("stuck"), signal: stop.signal }).catch(() => "stopped");
    await until(() => isStuck);
    const { messages } = (await agent.invoke(ask(), onThread("free"))) as AgentState;
    expect(outline(messages)).toEqual(["human Go.", "ai → waits", "tool waits ok", "ai done"]);
    stop.abort();
    expect(await stuck).toBe("stopped");
  });

  test("is not changed by what the loop notes about a refused answer", async () => {
    const reply = calls("structured_response", { n: "no number" });
    const { agent } = scripted([callTool("structured_response", { n: 1 })], {
      middleware: [repeating(reply)],
      responseFormat: z.object({ n: z.number() }),
    });
    expect((await agent.invoke(ask())).structuredResponse).toEqual({ n: 1 });
    expect(reply.invalid_tool_calls).toEqual([]);
  });
});

test("agents that share a model bind their tools once each, however they take turns", async () => {
  const model = scriptedModel(["a", "b", "c", "d"]);
  const agents = [createDeepAgent({ model }), createDeepAgent({ model })];
  for (const agent of [...agents, ...agents]) await agent.invoke(ask());
  expect(model.callCount).toBe(4);
  expect(model.bindings).toHaveLength(2);
});
