/** Agents by name, with the storage of the server. */
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { say, scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { drawingOf, schemasOf } from "./describe-graph.ts";
import { createAgentRegistry } from "./registry.ts";

const agentWith = (options = {}) => createDeepAgent({ model: scriptedModel([say("hi")]), ...options });

describe("the registry", () => {
  test("binds the saver to a copy; what an agent was built with stays", async () => {
    const saver = new MemorySaver();
    const own = new MemorySaver();
    const agent = agentWith();
    const registry = createAgentRegistry({
      agents: { a: agent, b: agentWith({ checkpointer: own }) },
      saver,
    });
    expect((await registry.load("a")).checkpointer).toBe(saver);
    expect((await registry.load("b")).checkpointer).toBe(own);
    expect(agent.checkpointer).toBeUndefined();
    const bound = await registry.load("a");
    const config = { configurable: { thread_id: "t" } };
    await bound.invoke({ messages: "hello" } as never, config);
    expect((await bound.getState(config)).values.messages).toHaveLength(2);
  });

  test("asks a function once, and again after it failed", async () => {
    let calls = 0;
    const registry = createAgentRegistry({
      agents: {
        later: () => {
          calls += 1;
          if (calls === 1) throw new Error("not yet");
          return agentWith();
        },
      },
      saver: new MemorySaver(),
    });
    expect(calls).toBe(0);
    await expect(registry.load("later")).rejects.toThrow("not yet");
    const [one, two] = await Promise.all([registry.load("later"), registry.load("later")]);
    expect(one).toBe(two);
    expect(calls).toBe(2);
  });

  test("has an assistant for each, under an id that is the same everywhere, or its name", () => {
    const registry = createAgentRegistry({ agents: { agent: agentWith() }, saver: new MemorySaver() });
    const [assistant] = registry.assistants;
    expect(assistant?.assistant_id).toBe("fe096781-5601-53d2-b2f6-0d3403f7e9ca");
    expect(registry.assistant("agent")).toBe(assistant);
    expect(registry.assistant(assistant?.assistant_id as string)).toBe(assistant);
    expect(registry.assistant("other")).toBeUndefined();
    registry.register("other", agentWith());
    expect(registry.assistant("other")?.graph_id).toBe("other");
    expect(() => registry.register("other", agentWith())).toThrow(/two agents/);
    expect(() => registry.register("../x", agentWith())).toThrow(/name/);
  });

  test("refuses what is no agent", async () => {
    const registry = createAgentRegistry({ agents: { no: {}, none: () => null }, saver: new MemorySaver() });
    await expect(registry.load("no")).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(registry.load("none")).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(registry.load("absent")).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("tells schemas and draws the graph", async () => {
    const agent = agentWith({ contextSchema: z.object({ tone: z.string() }) });
    const bound = await createAgentRegistry({ agents: { agent }, saver: new MemorySaver() }).load("agent");
    const schemas = schemasOf("agent", bound);
    expect(schemas.input_schema).toHaveProperty("properties.messages");
    expect(schemas.state_schema).not.toBeNull();
    expect(schemas.output_schema).not.toHaveProperty("properties._reminders");
    expect(JSON.stringify(schemas.context_schema)).toContain("tone");
    const drawing = (await drawingOf(bound)) as { nodes: { id: string }[] };
    expect(drawing.nodes.map(({ id }) => id)).toContain("model_request");
  });
});
