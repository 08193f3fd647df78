/** Every tool says what its calls do beside answering; one that does not counts as one that changes something. */
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { callTool, scriptedModel } from "../testing/index.ts";
import { toolEffect } from "./tool-effect.ts";

const own = (name: string, metadata?: Record<string, unknown>) =>
  tool(() => "done", { name, description: name, schema: z.object({}), ...(metadata && { metadata }) });

test("describe() tells the effect of built-in tools and of tools that declare one", () => {
  const { tools } = createDeepAgent({
    model: scriptedModel([]),
    backend: new LocalShellBackend({ virtualMode: true }),
    subagents: [{ name: "far", description: "Far.", url: "http://localhost:1", graphId: "far" }],
    tools: [
      own("look_up", { effect: "reads" }),
      own("send_mail", { effect: "network" }),
      own("silent"),
      own("odd", { effect: "harmless" }),
      { type: "web_search" },
    ],
  }).describe();
  const named = (effect: string) => tools.filter((one) => one.effect === effect).map(({ name }) => name);
  const effects = ["reads", "files", "commands", "network", "unknown"];
  expect(Object.fromEntries(effects.map((effect) => [effect, named(effect)]))).toEqual({
    reads: [
      ...["look_up", "write_todos", "ls", "read_file", "glob", "grep"],
      ...["task", "check_async_task", "list_async_tasks"],
    ],
    files: ["write_file", "edit_file", "delete"],
    commands: ["execute"],
    network: ["send_mail", "start_async_task", "update_async_task", "cancel_async_task"],
    unknown: ["odd", "silent", "(provider tool)"],
  });
});

test("an agent can be asked about every call of a tool that does more than read", async () => {
  const agent = createDeepAgent({
    model: scriptedModel([callTool("look_up", {}), callTool("silent", {}), "done"]),
    tools: [own("look_up", { effect: "reads" }), own("silent")],
    interruptOn: { "*": { when: ({ tool: called }) => toolEffect(called) !== "reads" } },
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: "t" } };
  const waiting = (await agent.invoke({ messages: "go" }, thread)) as Record<string, any>;
  expect(waiting.__interrupt__[0].value.actionRequests).toMatchObject([{ name: "silent" }]);
});
