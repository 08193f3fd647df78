/** Inheritance of subagents from their agent. */
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { callTool, type RecordedCall, say, scriptedModel } from "../testing/index.ts";
import { acts, anyTool, asked, orderOf, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";
import type { SubAgent } from "./spec.ts";

const toolNames = (call: RecordedCall | undefined): string[] =>
  (call?.tools ?? []).map((tool) => (tool as any).function?.name ?? (tool as any).name);

/** The first request of a child of this kind. */
async function childRequest(
  subagent: Partial<SubAgent>,
  options: object = {},
): Promise<RecordedCall | undefined> {
  const model = troupe({ Go: acts(tasks(taskCall("Do it.", "child")), say("done")), Do: acts(say("did")) });
  const agent = createDeepAgent({
    model,
    systemPrompt: "You are the boss.",
    tools: [anyTool("own_tool", () => "x")],
    subagents: [{ name: "child", description: "Does.", ...subagent }],
    ...options,
  });
  await agent.invoke(asked("Go."));
  return model.calls.find((call) => orderOf(call) === "Do it.");
}

describe("a declared subagent", () => {
  test("has the agent's tools and the built-in ones, but not task", async () => {
    const names = toolNames(await childRequest({}));
    expect(names).toEqual(expect.arrayContaining(["own_tool", "write_todos", "read_file", "write_file"]));
    expect(names).not.toContain("task");
  });

  test("with `tools: []` has the built-in ones only; its own take the place of the agent's", async () => {
    expect(toolNames(await childRequest({ tools: [] }))).not.toContain("own_tool");
    const names = toolNames(await childRequest({ tools: [anyTool("other", () => "x")] }));
    expect(names).toContain("other");
    expect(names).not.toContain("own_tool");
  });

  test("has a prompt of its own", async () => {
    const system = (await childRequest({ systemPrompt: "You are the child." }))?.messages[0]?.text ?? "";
    expect(system).toMatch(/^You are the child\./);
    expect(system).not.toContain("boss");
    expect(system).not.toContain("Subagents");
  });

  test("does not inherit middleware", async () => {
    const seen: string[] = [];
    const spy = createMiddleware({
      name: "Spy",
      beforeModel: (state) => void seen.push(String(state.messages[0]?.text)),
    });
    await childRequest({}, { middleware: [spy] });
    expect(new Set(seen)).toEqual(new Set(["Go."]));
  });

  test("has its own middleware, and can turn a built-in one off", async () => {
    const seen: string[] = [];
    const spy = createMiddleware({
      name: "Spy",
      beforeModel: (state) => void seen.push(String(state.messages[0]?.text)),
    });
    const request = await childRequest({ middleware: [spy, { todoListMiddleware: false }] });
    expect(seen).toEqual(["Do it."]);
    expect(toolNames(request)).not.toContain("write_todos");
  });

  test("may have a model of its own", async () => {
    const other = scriptedModel([say("other model")]);
    expect(await childRequest({ model: other })).toBeUndefined();
    expect(other.callCount).toBe(1);
  });

  test("has the agent's skills only if it is the general-purpose one; its own if it names some", async () => {
    const skill = (name: string) => ({
      [`/skills/${name}/${name}/SKILL.md`]: {
        content: `---\nname: ${name}\ndescription: About ${name}.\n---\n`,
        mimeType: "text/markdown",
        created_at: "",
        modified_at: "",
      },
    });
    const model = troupe({
      Go: acts(
        tasks(taskCall("One.", "general-purpose"), taskCall("Two.", "plain"), taskCall("Three.", "skilled")),
        say("done"),
      ),
      One: acts(say("1")),
      Two: acts(say("2")),
      Three: acts(say("3")),
    });
    const agent = createDeepAgent({
      model,
      skills: ["/skills/main/"],
      subagents: [
        { name: "plain", description: "Has none." },
        { name: "skilled", description: "Has its own.", skills: ["/skills/special/"] },
      ],
    });
    await agent.invoke({ ...asked("Go."), files: { ...skill("main"), ...skill("special") } });
    const prompt = (order: string) =>
      model.calls.find((call) => orderOf(call) === order)?.messages[0]?.text ?? "";
    expect(prompt("One.")).toContain("About main.");
    expect(prompt("Two.")).not.toMatch(/About (main|special)\./);
    expect(prompt("Three.")).toContain("About special.");
    expect(prompt("Three.")).not.toContain("About main.");
  });
});

describe("the general-purpose subagent", () => {
  const names = (options: object) =>
    createDeepAgent({ model: scriptedModel([]), ...options })
      .describe()
      .subagents.map(({ name }) => name);

  test("is there unless one of its name is given or it is turned off", () => {
    expect(names({})).toEqual(["general-purpose"]);
    expect(names({ subagents: [{ name: "general-purpose", description: "Mine." }] })).toEqual([
      "general-purpose",
    ]);
    expect(names({ middleware: [createSubAgentMiddleware({ generalPurposeAgent: false })] })).toEqual([]);
  });

  test("an agent that has nobody to delegate to has no tool for it and no words about it", () => {
    const agent = createDeepAgent({
      model: scriptedModel([]),
      middleware: [createSubAgentMiddleware({ generalPurposeAgent: false })],
    });
    expect(agent.describe().tools.map(({ name }) => name)).not.toContain("task");
    expect(agent.describe().systemPrompt).not.toContain("ubagent");
    expect(
      createDeepAgent({ middleware: [{ subAgentMiddleware: false }] })
        .describe()
        .tools.map(({ name }) => name),
    ).not.toContain("task");
  });
});

test("PAINS 32: context, store, thread and configurable reach a tool three levels down", async () => {
  const seen: unknown[] = [];
  const look = anyTool("look", (_, runtime) => {
    seen.push(
      runtime.context,
      runtime.store !== undefined,
      runtime.configurable?.mine,
      runtime.configurable?.thread_id,
    );
    return "looked";
  });
  const nested = (name: string, inner?: SubAgent): SubAgent => ({
    name,
    description: `The agent ${name}.`,
    ...(inner && {
      middleware: [createSubAgentMiddleware({ generalPurposeAgent: false, subagents: [inner] })],
    }),
  });
  const model = troupe({
    Go: acts(tasks(taskCall("One.", "one")), say("done")),
    One: acts(tasks(taskCall("Two.", "two")), say("one done")),
    Two: acts(tasks(taskCall("Three.", "three")), say("two done")),
    Three: acts(callTool("look"), say("three done")),
  });
  const agent = createDeepAgent({
    model,
    tools: [look],
    contextSchema: z.object({ user: z.string() }),
    store: new InMemoryStore(),
    checkpointer: new MemorySaver(),
    subagents: [nested("one", nested("two", nested("three")))],
  });
  const state = await agent.invoke(asked("Go."), {
    context: { user: "ada" },
    configurable: { thread_id: "t", mine: 1 },
  });
  expect(resultsOf(state)[0]?.text).toBe("one done");
  expect(seen).toEqual([{ user: "ada" }, true, 1, "t"]);
});
