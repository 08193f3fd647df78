/** Errors that only the caller can fix reach the caller, however deep in a tree of agents they occur. */
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { childBuilder } from "../child-agent.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import type { AgentGraph } from "../loop/graph/agent-graph.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import { acts, anyTool, asked, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";
import type { LocalSubAgent, SubAgent } from "./spec.ts";

type Options = NonNullable<Parameters<typeof createDeepAgent>[0]>;

const asking: SubAgent = { name: "asking", description: "Asks first.", interruptOn: { ls: true } };
const team = (...subagents: readonly LocalSubAgent[]) =>
  createSubAgentMiddleware({ generalPurposeAgent: false, subagents });

describe("a team in which somebody asks a person needs a checkpointer", () => {
  const idle = () => scriptedModel([say("done")]);
  test.each<[string, () => Options]>([
    ["given as an option", () => ({ subagents: [asking] })],
    ["given by a middleware", () => ({ middleware: [team(asking)] })],
    [
      "by what all of it is given",
      () => ({ middleware: [createSubAgentMiddleware({ defaultInterruptOn: { ls: true } })] }),
    ],
    ["of a child", () => ({ subagents: [{ ...asking, interruptOn: null, middleware: [team(asking)] }] })],
    [
      "with an agent that is made already",
      () => {
        const runnable = createDeepAgent({ model: idle(), interruptOn: { ls: true } });
        return { subagents: [{ name: "made", description: "Made.", runnable }] };
      },
    ],
  ])("%s: said before a model is asked", async (_, options) => {
    const model = idle();
    const agent = createDeepAgent({ model, ...options() } as Options);
    await expect(agent.invoke(asked("Go."))).rejects.toMatchObject({ code: "CHECKPOINTER_REQUIRED" });
    expect(model.callCount).toBe(0);
    const kept = createDeepAgent({ model, ...options(), checkpointer: new MemorySaver() } as Options);
    await kept.invoke(asked("Go."), { configurable: { thread_id: "t" } });
    expect(model.callCount).toBe(1);
  });

  test("nobody asks: none is needed", async () => {
    const agent = createDeepAgent({
      model: idle(),
      middleware: [team({ ...asking, interruptOn: { ls: false } })],
    });
    await expect(agent.invoke(asked("Go."))).resolves.toBeDefined();
  });
});

describe("a mistake that shows when a child is built or asked ends the run", () => {
  const run = (subagent: SubAgent, options: Options = {}) => {
    const model = troupe(
      { Go: acts(tasks(taskCall("One.", "one")), say("done")), One: acts(tasks(taskCall("Two.", "two"))) },
      { modelName: "claude-sonnet-4-6" },
    );
    const one: SubAgent = { name: "one", description: "One.", middleware: [team(subagent)] };
    return createDeepAgent({ model, subagents: [one], ...options } as Options).invoke(asked("Go."));
  };

  test("a tool with the name of a built-in one", async () => {
    const two = { name: "two", description: "Two.", tools: [anyTool("ls", () => "mine")] };
    await expect(run(two)).rejects.toMatchObject({ code: "TOOL_NAME_COLLISION" });
  });

  test("a model without a price under a budget in dollars", async () => {
    const unpriced = scriptedModel([say("done")], { modelName: "unheard-of" });
    const two = { name: "two", description: "Two.", model: unpriced };
    await expect(run(two, { budget: { maxCost: 5 } })).rejects.toMatchObject({ code: "PRICE_UNKNOWN" });
    expect(unpriced.callCount).toBe(0);
  });
});

test("permissions that would not hold for commands are refused when the agent is made", () => {
  const backend = new LocalShellBackend({ rootDir: "/" });
  const permissions = [{ operations: ["write"], paths: ["/**"], mode: "deny" }] as const;
  const auditor: SubAgent = { name: "auditor", description: "Reads.", permissions };
  const model = scriptedModel([]);
  const refusal = expect.objectContaining({
    code: "PERMISSIONS_WITH_EXECUTE",
    message: expect.stringContaining("'auditor'"),
  });
  expect(() => createDeepAgent({ model, backend, subagents: [auditor] })).toThrow(refusal);
  expect(() => createDeepAgent({ model, backend, middleware: [team(auditor)] })).toThrow(refusal);
  expect(() => createDeepAgent({ model, subagents: [auditor] })).not.toThrow();
});

test("a budget of its own stops a child, and the agent goes on", async () => {
  const model = troupe({
    Go: acts(tasks(taskCall("Look.", "small"), taskCall("Look.", "small")), say("done")),
    Look: acts(callTool("ls"), callTool("glob", { pattern: "*" }), say("found")),
  });
  const small: SubAgent = { name: "small", description: "Small.", budget: { maxSteps: 2 } };
  const state = await createDeepAgent({ model, subagents: [small] }).invoke(asked("Go."));
  for (const { status, text } of resultsOf(state)) {
    expect(status).toBe("error");
    expect(text).toContain("The budget of 'small' of 2 model calls is used up");
  }
  expect(state.outcome.kind).toBe("done");
  expect(model.callCount).toBe(6);
});

test("agents on models of one name share the client", () => {
  const sourceOf = (child: unknown) => (child as AgentGraph).loop.model;
  const build = childBuilder({ model: "openai:gpt-4o" });
  const plain: SubAgent = { name: "a", description: "A." };
  const first = sourceOf(build(plain, undefined));
  expect(sourceOf(build({ ...plain, name: "b" }, undefined))).toBe(first);
  expect(sourceOf(build({ ...plain, name: "c", model: "openai:gpt-4.1" }, undefined))).not.toBe(first);
});
