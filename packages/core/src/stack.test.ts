import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { StateBackend } from "./backends/state/state.ts";
import { createFilesystemMiddleware } from "./middleware/filesystem.ts";
import { createTodoListMiddleware } from "./middleware/todo-list.ts";
import { middlewareStack } from "./stack.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";

const named = (name: string) => createMiddleware({ name });
const namesOf = (stack: readonly AgentMiddleware[]) => stack.map((middleware) => middleware.name);
const stack = (given: readonly AgentMiddleware[], off: readonly string[] = []) =>
  namesOf(middlewareStack({ given, off: new Set(off) }));

const CONTEXT = [
  "SummarizationMiddleware",
  "PromptCachingMiddleware",
  "ModelRetryMiddleware",
  "BudgetMiddleware",
  "LoopDetectionMiddleware",
];
const BUILT_IN = ["todoListMiddleware", "FilesystemMiddleware", ...CONTEXT];

describe("the order of the middleware", () => {
  test("ours, then the user's as given", () => {
    expect(stack([])).toEqual(BUILT_IN);
    expect(stack([named("b"), named("a")])).toEqual([...BUILT_IN, "b", "a"]);
  });

  test("memory and skills stand behind the todo list, where there are some", () => {
    const all = middlewareStack({
      given: [],
      off: new Set(),
      memory: ["/AGENTS.md"],
      skills: ["/skills/"],
    });
    const [first, ...others] = BUILT_IN;
    expect(namesOf(all)).toEqual([first, "MemoryMiddleware", "SkillsMiddleware", ...others]);
  });

  test("one with the name of a built-in one takes its place, in whatever case", () => {
    const own = [named("a"), named("TODOLISTMIDDLEWARE"), named("filesystemMiddleware")];
    expect(stack(own)).toEqual(["TODOLISTMIDDLEWARE", "filesystemMiddleware", ...CONTEXT, "a"]);
  });

  test("built-in ones can be turned off, in whatever case", () => {
    expect(stack([named("a")], ["todolistmiddleware"])).toEqual([...BUILT_IN.slice(1), "a"]);
    expect(stack([], ["todolistmiddleware", "filesystemmiddleware"])).toEqual(CONTEXT);
    const all = BUILT_IN.map((name) => name.toLowerCase());
    expect(stack([], all)).toEqual([]);
  });
});

describe("createDeepAgent({middleware})", () => {
  const toolsOf = (middleware: readonly unknown[]) =>
    createDeepAgent({ middleware: middleware as never })
      .describe()
      .tools.map(({ name }) => name);

  test("{name: false} turns a built-in one off, with its tools, words and state", async () => {
    expect(toolsOf([])).toContain("write_todos");
    expect(toolsOf([{ todoListMiddleware: false }])).not.toContain("write_todos");
    expect(toolsOf([{ TodoListMiddleware: false, filesystemMiddleware: false }])).toEqual(["task"]);
    const bare = createDeepAgent({
      model: scriptedModel([say("done")]),
      middleware: [
        { todoListMiddleware: false },
        { FilesystemMiddleware: false },
        { SummarizationMiddleware: false },
        { subAgentMiddleware: false },
      ],
    });
    expect(bare.describe().systemPrompt).not.toMatch(/todo|file/i);
    const result = await bare.invoke({ messages: [new HumanMessage("Go.")] });
    expect(result).toEqual({ messages: expect.any(Array), outcome: { kind: "done" } });
  });

  test("turning off what is not there is an error that names what is", () => {
    expect(() => toolsOf([{ noSuchMiddleware: false }])).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringMatching(
          /nosuchmiddleware.*todoListMiddleware, MemoryMiddleware, SkillsMiddleware, FilesystemMiddleware/i,
        ),
      }),
    );
  });

  test("two of one name are refused, in whatever case", () => {
    expect(() => toolsOf([named("same"), named("Same")])).toThrow(
      expect.objectContaining({ code: "DUPLICATE_MIDDLEWARE", name: "ConfigurationError" }),
    );
  });

  test.each([["a string"], [42], [null], [{}], [{ tools: [] }]])("%j is no middleware", (value) => {
    expect(() => toolsOf([value])).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  test("a replacement brings its own tools in place of the built-in ones", () => {
    const plan = tool(() => "ok", { name: "plan", description: "Plans.", schema: z.object({}) });
    const names = toolsOf([createMiddleware({ name: "TodoListMiddleware", tools: [plan] })]);
    expect(names).toContain("plan");
    expect(names).not.toContain("write_todos");
  });

  test("ours, given again with other words, is used in place", () => {
    const agent = createDeepAgent({
      middleware: [
        createTodoListMiddleware({ systemPrompt: "## Plan\nPlan it." }),
        createFilesystemMiddleware({ tools: ["ls"], systemPrompt: "## Disk" }),
        { subAgentMiddleware: false },
      ],
      profile: false,
    });
    const { systemPrompt, tools, middleware } = agent.describe();
    expect(systemPrompt).toMatch(/## Plan\nPlan it\.\n\n## Disk$/);
    expect(tools.map(({ name }) => name)).toEqual(["write_todos", "ls"]);
    expect(middleware.map(({ name }) => name)).toEqual(BUILT_IN);
  });

  test("a filesystem middleware without a backend inherits the agent's", async () => {
    const made: unknown[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([callTool("ls", { path: "/" }), say("done")]),
      backend: () => {
        made.push("a backend");
        return new StateBackend();
      },
      middleware: [createFilesystemMiddleware({ tools: ["ls"] })],
    });
    await agent.invoke({ messages: [new HumanMessage("Go.")] });
    expect(made).toEqual(["a backend"]);
  });
});
