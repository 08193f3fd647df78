import { tool } from "@langchain/core/tools";
import { Command, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { scriptedModel } from "../../testing/index.ts";

/** A backend that demands approval, as other packages mark one. */
function demanding(): MapBackend {
  return Object.assign(new MapBackend(), { [Symbol.for("deepwright.approval-demand")]: "it holds secrets" });
}

const NAMES = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "write_todos", "task"];
const ALL = Object.fromEntries(NAMES.map((name) => [name, true]));

test("an agent on a backend that demands approval must ask about every tool it has", () => {
  const agentWith = (options: object) => () =>
    createDeepAgent({ model: scriptedModel([]), backend: demanding(), ...options } as never);
  expect(agentWith({})).toThrow(/needs approval, because it holds secrets/);
  expect(agentWith({ interruptOn: ALL })).not.toThrow();
  expect(agentWith({ interruptOn: { ...ALL, ls: { when: () => true } } })).toThrow(
    /'ls' can be called without/,
  );
  const search = { type: "web_search_20250305", name: "web_search" };
  expect(agentWith({ interruptOn: { ...ALL, web_search: true }, tools: [search] })).toThrow(
    /'web_search' can be called without/,
  );
});

test("a compiled subagent must ask about every tool too, and one whose tools cannot be seen is refused", () => {
  const model = scriptedModel([]);
  const agentWith = (runnable: unknown) => () =>
    createDeepAgent({
      model,
      backend: demanding(),
      interruptOn: ALL,
      subagents: [{ name: "other", description: "Made elsewhere.", runnable }],
    } as never);
  expect(agentWith(createDeepAgent({ model }))).toThrow(/can be called without/);
  expect(agentWith(createDeepAgent({ model, interruptOn: ALL }))).not.toThrow();
  expect(agentWith({ invoke: async () => ({ messages: [] }) })).toThrow(/compiled subagent 'other'/);
});

test("a tool that a middleware brings in a run only is asked about too", async () => {
  const late = tool(async () => "ran", { name: "late", description: "Comes late.", schema: z.object({}) });
  const bringer = createMiddleware({
    name: "Bringer",
    wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, late] }),
    wrapToolCall: (request, handler) => handler({ ...request, tool: request.tool ?? late }),
  });
  const agent = createDeepAgent({
    model: scriptedModel([{ toolCalls: [{ name: "late", args: {} }] }, "done"]),
    backend: demanding(),
    interruptOn: ALL,
    middleware: [bringer],
    checkpointer: new MemorySaver(),
  });
  const { interrupts } = await agent.invoke(
    { messages: "go" },
    { configurable: { thread_id: "t" }, version: "v2" },
  );
  expect(interrupts[0]?.value).toMatchObject({
    actionRequests: [{ name: "late", description: "Every call needs approval, because it holds secrets." }],
  });
});

const LIST = { toolCalls: [{ name: "ls", args: { path: "/" } }] };
const decide = (...decisions: unknown[]) => new Command({ resume: { decisions } }) as never;

test("what a person agreed to for longer is asked about all the same, and cannot be agreed to so", async () => {
  const [checkpointer, store] = [new MemorySaver(), new InMemoryStore()];
  const run = { configurable: { thread_id: "t" }, version: "v2" } as const;
  const agentOn = (backend: MapBackend) =>
    createDeepAgent({
      model: scriptedModel([LIST, "done", LIST, "done"]),
      ...{ backend, interruptOn: ALL, checkpointer, store },
    });
  for (const remember of ["thread", "always"]) {
    const before = agentOn(new MapBackend());
    const there = { ...run, configurable: { thread_id: remember === "thread" ? "t" : "u" } };
    await before.invoke({ messages: "go" }, there);
    await before.invoke(decide({ type: "approve", remember }), there);
  }
  const agent = agentOn(demanding());
  expect((await agent.invoke({ messages: "go" }, run)).interrupts).toHaveLength(1);
  const again = await agent.invoke(decide({ type: "approve", remember: "thread" }), run);
  expect(again.interrupts[0]?.value).toMatchObject({
    error: expect.stringMatching(/every call has to be approved.*leave 'remember' out/),
  });
  expect((await agent.invoke(decide({ type: "approve" }), run)).interrupts).toEqual([]);
  expect((await agent.invoke({ messages: "go" }, run)).interrupts).toHaveLength(1);
});

test("the same holds inside a compiled subagent, whose own backend demands nothing", async () => {
  const runnable = createDeepAgent({ model: scriptedModel([LIST, "done"]), interruptOn: ALL });
  const agent = createDeepAgent({
    model: scriptedModel([
      { toolCalls: [{ name: "task", args: { description: "Look.", subagent_type: "other" } }] },
      "done",
    ]),
    backend: demanding(),
    interruptOn: ALL,
    subagents: [{ name: "other", description: "Made elsewhere.", runnable }],
    checkpointer: new MemorySaver(),
  } as never);
  const run = { configurable: { thread_id: "t" }, version: "v2" } as const;
  await agent.invoke({ messages: "go" }, run);
  const inside = await agent.invoke(decide({ type: "approve" }), run);
  expect(inside.interrupts[0]?.value).toMatchObject({ actionRequests: [{ name: "ls" }] });
  const again = await agent.invoke(decide({ type: "approve", remember: "thread" }), run);
  expect(again.interrupts[0]?.value).toMatchObject({
    error: expect.stringContaining("every call has to be approved"),
  });
});
