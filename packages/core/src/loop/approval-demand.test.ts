import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { MapBackend } from "../backends/map.ts";
import { scriptedModel } from "../testing/index.ts";

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
