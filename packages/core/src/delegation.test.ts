import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { createSubAgent, createSubAgentMiddleware } from "./delegation.ts";
import { createFilesystemMiddleware } from "./middleware/filesystem.ts";
import {
  acts,
  anyTool,
  asked,
  orderOf,
  resultsOf,
  taskCall,
  tasks,
  troupe,
} from "./subagents/children-for-tests.ts";
import { TASK_SYSTEM_PROMPT } from "./subagents/words.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";

const script = {
  Go: acts(tasks(taskCall("Write.", "writer"), taskCall("Look.", "general-purpose")), say("done")),
  Write: acts(callTool("write_file", { file_path: "/a", content: "a" }), say("written")),
  Look: acts(callTool("own_tool"), say("looked")),
};
const writer = { name: "writer", description: "Writes.", systemPrompt: "Write." };
const ownTool = anyTool("own_tool", () => "x");

describe("createSubAgentMiddleware", () => {
  test("works in an agent of LangChain, files included", async () => {
    const model = troupe(script);
    const agent = createAgent({
      model,
      tools: [],
      middleware: [
        createFilesystemMiddleware(),
        createSubAgentMiddleware({ defaultModel: model, defaultTools: [ownTool], subagents: [writer] }),
      ] as never,
    });
    const state = (await agent.invoke(asked("Go.") as never)) as any;
    expect(resultsOf(state).map(({ text }) => text)).toEqual(["written", "looked"]);
    expect(state.files["/a"].content).toBe("a");
    expect(model.calls[0]?.messages[0]?.text).toContain("## Subagents");
  });

  test("in a deep agent it takes the place of the built-in one and inherits what it leaves unset", async () => {
    const model = troupe(script);
    const agent = createDeepAgent({
      model,
      tools: [ownTool],
      subagents: [writer],
      middleware: [
        createSubAgentMiddleware({
          systemPrompt: "Delegate!",
          taskDescription: "One of:\n{available_agents}",
        }),
      ],
    });
    const { systemPrompt, tools, middleware } = agent.describe();
    expect(systemPrompt).toContain("Delegate!");
    expect(systemPrompt).not.toContain(TASK_SYSTEM_PROMPT);
    expect(tools.find(({ name }) => name === "task")?.description).toMatch(
      /^One of:\n- general-purpose: .*\n- writer: Writes\.$/,
    );
    expect(middleware.filter(({ name }) => name === "subAgentMiddleware")).toHaveLength(1);
    const state = await agent.invoke(asked("Go."));
    expect(resultsOf(state).map(({ text }) => text)).toEqual(["written", "looked"]);
  });

  test("its own defaults count before the agent's", async () => {
    const other = troupe(script);
    const agent = createDeepAgent({
      model: troupe(script),
      middleware: [
        createSubAgentMiddleware({ defaultModel: other, defaultTools: [ownTool], subagents: [writer] }),
      ],
    });
    await agent.invoke(asked("Go."));
    expect(other.calls.map(orderOf).sort()).toEqual(["Look.", "Look.", "Write.", "Write."]);
  });

  test("a child without a model is an error that says so", async () => {
    const agent = createAgent({
      model: troupe(script),
      tools: [],
      middleware: [createSubAgentMiddleware()] as never,
    });
    const state = (await agent.invoke(asked("Go.") as never)) as never;
    expect(resultsOf(state)[1]?.text).toContain("'general-purpose' has no model");
  });

  test.each<[object, RegExp]>([
    [{ models: "x" }, /no option 'models'/],
    [{ subagents: {} }, /'subagents' must be a list/],
    [{ generalPurposeAgent: "no" }, /'generalPurposeAgent' must be true or false/],
    [{ systemPrompt: 1 }, /'systemPrompt' must be text/],
  ])("refuses %j", (options, words) => {
    expect(() => createSubAgentMiddleware(options as never)).toThrow(words);
  });
});

describe("createSubAgent", () => {
  test("makes an agent of a subagent", async () => {
    const model = scriptedModel([callTool("own_tool"), say("done alone")]);
    const agent = createSubAgent({ ...writer, model, tools: [ownTool] });
    const state = await agent.invoke(asked("Go."));
    expect(state.messages.at(-1).text).toBe("done alone");
    expect(model.calls[0]?.messages[0]?.text).toMatch(/^Write\./);
  });

  test("with a form for its answer", async () => {
    const model = scriptedModel(({ tools }) => callTool((tools.at(-1) as any).function.name, { n: 1 }));
    const agent = createSubAgent({ ...writer, model }, { responseFormat: z.object({ n: z.number() }) });
    expect((await agent.invoke(asked("Go."))).structuredResponse).toEqual({ n: 1 });
  });

  test("which needs a model", () => {
    expect(() => createSubAgent(writer)).toThrow(/'writer' has no model/);
  });
});

test("describe() lists the subagents", () => {
  const agent = createDeepAgent({ model: scriptedModel([]), subagents: [writer] });
  expect(agent.describe().subagents.map(({ name, description }) => [name, description])).toContainEqual([
    "writer",
    "Writes.",
  ]);
  expect(String(agent.describe())).toContain("  writer: Writes.");
});

test("nothing of a subagent is built before it is called, and then once", async () => {
  const built: string[] = [];
  const spec = (name: string) => ({
    name,
    description: "Counts.",
    get systemPrompt() {
      built.push(name);
      return "Count.";
    },
  });
  const model = troupe({
    Go: acts(tasks(taskCall("One."), taskCall("Two.", "a"), taskCall("Three.", "a")), say("done")),
    One: acts(say("1")),
    Two: acts(say("2")),
    Three: acts(say("3")),
  });
  const agent = createDeepAgent({ model, subagents: [spec("a"), spec("b")] });
  built.length = 0;
  await agent.invoke(asked("Go."));
  await agent.invoke(asked("Go."));
  expect(built).toEqual(["a"]);
});

test("parent and children keep records of their own, which do not mix", async () => {
  const long = (mark: string) => `${mark} ${"word ".repeat(3000)}`;
  const model = troupe(
    {
      Go: (_, step) =>
        step < 2
          ? { text: long("PARENT"), toolCalls: [{ name: "ls" }] }
          : step === 2
            ? tasks(taskCall("Work."))
            : say("done"),
      Work: (_, step) => (step < 4 ? { text: long("CHILD"), toolCalls: [{ name: "ls" }] } : say("worked")),
      "": acts(say("A summary.")),
    },
    { profile: { maxInputTokens: 12_000 }, check: false },
  );
  const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
  const state = await agent.invoke(asked("Go."), { configurable: { thread_id: "t" } });
  const records = Object.entries(state.files).filter(([path]) => path.startsWith("/conversation_history/"));
  const child = records.filter(([path]) => path.includes("tools"));
  expect(child.length).toBeGreaterThan(0);
  for (const [path, { content }] of records)
    expect(content).not.toContain(path.includes("tools") ? "PARENT" : "CHILD");
});

test("a hundred children at once", async () => {
  const calls = Array.from({ length: 100 }, (_, i) => taskCall(`Write ${i}`, "writer"));
  const model = troupe({
    Go: acts(tasks(...calls), say("done")),
    Write: (request, step) => {
      const i = /\d+/.exec(orderOf(request))?.[0];
      return step === 0
        ? callTool("write_file", { file_path: `/f${i}`, content: `${i}` })
        : say(`wrote ${i}`);
    },
  });
  const state = await createDeepAgent({ model, subagents: [writer] }).invoke(asked("Go."));
  expect(resultsOf(state).map(({ text }) => text)).toEqual(calls.map((_, i) => `wrote ${i}`));
  expect(Object.keys(state.files)).toHaveLength(100);
});

test("children do without the built-in middleware their agent turned off, unless they bring their own", async () => {
  const model = scriptedModel([
    tasks(taskCall("Look.", "general-purpose")),
    callTool("ls"),
    say("looked"),
    tasks(taskCall("Write.", "writer")),
    say("written"),
    say("done"),
  ]);
  const agent = createDeepAgent({
    model,
    tools: [anyTool("ls", () => "mine")],
    subagents: [{ ...writer, tools: [], middleware: [createFilesystemMiddleware({ tools: ["ls"] })] }],
    middleware: [{ FilesystemMiddleware: false, todoListMiddleware: false }],
  });
  const result = await agent.invoke(asked("Go."));
  const offered = model.calls.map(({ tools }) => tools.map((tool) => (tool as { name: string }).name));
  expect(offered).toEqual([["ls", "task"], ["ls"], ["ls"], ["ls", "task"], ["ls"], ["ls", "task"]]);
  expect(resultsOf(result).map((message) => message.status)).not.toContain("error");
});
