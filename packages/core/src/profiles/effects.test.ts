import { DynamicStructuredTool, tool } from "@langchain/core/tools";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { BASE_AGENT_PROMPT } from "../prompts.ts";
import { callTool, type ScriptedModel, say, scriptedModel, type Turn } from "../testing/index.ts";
import { newProvider } from "./profiles-for-tests.ts";
import { registerHarnessProfile } from "./registry.ts";
import type { HarnessProfileOptions } from "./types.ts";

/** An agent on a model that has this profile, under a key of its own. */
function profiled(
  profile: HarnessProfileOptions,
  turns: readonly Turn[] = [say("done")],
  options: CreateDeepAgentParams<any> = {},
) {
  const name = newProvider();
  registerHarnessProfile(`scripted:${name}`, profile);
  const model = scriptedModel(turns, { modelName: name });
  return { model, name, agent: createDeepAgent({ model, ...options }) };
}

const ask = { messages: [{ role: "user", content: "Go." }] };
const promptOf = (model: ScriptedModel, call = 0) => model.calls[call]?.messages[0]?.text ?? "";
const toolsOf = (model: ScriptedModel, call = 0) =>
  (model.calls[call]?.tools ?? []) as { name: string; description: string }[];
const lookUp = tool(() => "found it", {
  name: "look_up",
  description: "Looks something up.",
  schema: z.object({}),
});

describe("the words of a profile", () => {
  test("its base takes the place of ours, its suffix closes the prompt", async () => {
    const { agent, model } = profiled(
      { baseSystemPrompt: "Base.", systemPromptSuffix: "Last." },
      [say("a")],
      {
        systemPrompt: { prefix: "First.", suffix: "Mine." },
      },
    );
    await agent.invoke(ask);
    expect(promptOf(model)).toMatch(/^First\.\n\nBase\.\n\n.*\n\nMine\.\n\nLast\.$/s);
    expect(promptOf(model)).not.toContain(BASE_AGENT_PROMPT);
  });

  test("a base given to the agent counts, also an empty one", () => {
    const own = { baseSystemPrompt: "Base." };
    const prompt = (systemPrompt: CreateDeepAgentParams["systemPrompt"]) =>
      profiled(own, [], { systemPrompt }).agent.describe().systemPrompt;
    expect(prompt("Mine.")).toMatch(/^Mine\.\n\nBase\.\n\n/);
    expect(prompt({ base: "Other." })).toMatch(/^Other\.\n\n/);
    expect(prompt({ base: "" })).not.toMatch(/Base\./);
  });

  test("the profile of one agent, and none", () => {
    const base = { systemPromptSuffix: "All." };
    const words = (profile: CreateDeepAgentParams["profile"]) =>
      profiled(base, [], { profile }).agent.describe();
    expect(words({ systemPromptSuffix: "Mine." }).systemPrompt).toMatch(/\n\nMine\.$/);
    expect(words({ systemPromptSuffix: "" }).systemPrompt).not.toContain("All.");
    expect(words(false)).toMatchObject({ profiles: [] });
    expect(words(false).systemPrompt).not.toContain("All.");
  });

  test("describe() names what was applied", () => {
    const { agent, name } = profiled({ systemPromptSuffix: "All." }, [], {
      profile: { excludedTools: ["ls"] },
    });
    expect(agent.describe().profiles).toEqual([`scripted:${name}`, "agent"]);
    expect(String(agent.describe())).toContain(`profiles: scripted:${name}, agent\n`);
    expect(String(createDeepAgent().describe())).toContain("profiles: built-in claude\n");
    expect(String(createDeepAgent({ profile: false }).describe())).not.toContain("profiles");
  });
});

/** Keeps something where a copy of its fields would not find it. */
class CountingTool extends DynamicStructuredTool {
  #calls = 0;

  count(): number {
    this.#calls += 1;
    return this.#calls;
  }
}

describe("other descriptions", () => {
  const overrides = { ls: "Shows a directory.", look_up: "Asks the archive.", counted: "Counts." };

  test("reach the model for built-in tools, the user's and the provider's, and change no tool", async () => {
    const record = { type: "function", function: { name: "remote", description: "Old.", parameters: {} } };
    const before = structuredClone(record);
    const { agent, model } = profiled(
      { toolDescriptionOverrides: { ...overrides, remote: "New.", nobody: "Not there." } },
      [callTool("look_up"), say("done")],
      { tools: [Object.freeze(lookUp), record] },
    );
    const { messages } = await agent.invoke(ask);
    const described = new Map(toolsOf(model).map((one) => [one.name, one.description]));
    expect(described.get("ls")).toBe("Shows a directory.");
    expect(described.get("look_up")).toBe("Asks the archive.");
    expect(toolsOf(model)).toContainEqual({
      ...record,
      function: { ...record.function, description: "New." },
    });
    expect(described.has("nobody")).toBe(false);
    expect(messages.at(-2)?.text).toBe("found it");
    expect(lookUp.description).toBe("Looks something up.");
    expect(record).toEqual(before);
  });

  test("leave a tool of any class working", async () => {
    const counted: CountingTool = new CountingTool({
      name: "counted",
      description: "Old.",
      schema: z.object({}),
      func: async () => `call ${counted.count()}`,
    });
    const { agent, model } = profiled(
      { toolDescriptionOverrides: overrides },
      [callTool("counted"), callTool("counted"), say("done")],
      { tools: [counted] },
    );
    const { messages } = await agent.invoke(ask);
    expect(messages.filter(({ type }) => type === "tool").map(({ text }) => text)).toEqual([
      "call 1",
      "call 2",
    ]);
    expect(toolsOf(model)[0]).toMatchObject({ name: "counted", description: "Counts." });
    expect(toolsOf(model)[0]).toBeInstanceOf(CountingTool);
    // Bound once: what a model knows tools by stays the same.
    expect(model.bindings).toHaveLength(1);
  });

  test("hold for tools a middleware offers for one turn", async () => {
    const { agent, model } = profiled({ toolDescriptionOverrides: overrides }, [say("done")], {
      middleware: [
        createMiddleware({
          name: "offers",
          wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, lookUp] }),
        }),
      ],
    });
    await agent.invoke(ask);
    expect(toolsOf(model).find(({ name }) => name === "look_up")?.description).toBe("Asks the archive.");
  });
});

describe("excluded tools", () => {
  test("are neither offered nor spoken of nor callable", async () => {
    const { agent, model } = profiled(
      { excludedTools: ["write_todos", "look_up"] },
      [callTool("look_up"), callTool("write_todos", { todos: [] }), say("done")],
      { tools: [lookUp] },
    );
    const { messages, todos } = await agent.invoke(ask);
    const results = messages.filter(({ type }) => type === "tool");
    expect(results.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Error: There is no tool 'look_up'\./),
      expect.stringMatching(/^Error: There is no tool 'write_todos'\./),
    ]);
    expect(results.map((result) => (result as { status?: string }).status)).toEqual(["error", "error"]);
    expect(todos ?? []).toEqual([]);
    for (const call of [0, 1, 2])
      expect(toolsOf(model, call).map(({ name }) => name)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/write_todos|look_up/)]),
      );
    expect(promptOf(model)).not.toMatch(/todo/i);
  });

  test("stay out when a middleware offers them again", async () => {
    const ran: string[] = [];
    const banned = tool(() => ran.push("ran"), { name: "banned", description: "Bad.", schema: z.object({}) });
    const { agent, model } = profiled(
      { excludedTools: ["banned", "web_search"] },
      [callTool("banned"), say("x")],
      {
        tools: [{ type: "web_search" }],
        middleware: [
          createMiddleware({
            name: "offers",
            wrapModelCall: (request, handler) =>
              handler({ ...request, tools: [...request.tools, banned, { type: "web_search" }] }),
          }),
        ],
      },
    );
    const { messages } = await agent.invoke(ask);
    expect(toolsOf(model).some((one) => one.name === "banned" || "type" in one)).toBe(false);
    expect(messages.at(-2)?.text).toMatch(/There is no tool 'banned'/);
    expect(ran).toEqual([]);
  });

  test.each<[string, AgentMiddleware["wrapToolCall"]]>([
    ["brings the tool", (request, handler) => handler({ ...request, tool: banned })],
    [
      "renames a call to it",
      (request, handler) =>
        handler({ ...request, toolCall: { ...request.toolCall, name: "banned" }, tool: banned }),
    ],
  ])("cannot be called by a middleware that %s", async (_what, wrapToolCall) => {
    runs.length = 0;
    const { agent } = profiled(
      { excludedTools: ["banned"] },
      [callTool("banned"), callTool("look_up"), say("x")],
      {
        tools: [banned, lookUp],
        middleware: [createMiddleware({ name: "brings", wrapToolCall: wrapToolCall as never })],
      },
    );
    const { messages } = await agent.invoke(ask);
    expect(
      messages.filter(({ type }) => type === "tool").every(({ text }) => /There is no tool/.test(text)),
    ).toBe(true);
    expect(runs).toEqual([]);
  });

  const shell = () => new LocalShellBackend({ rootDir: process.cwd() });
  const all = createDeepAgent({ backend: shell(), profile: false })
    .describe()
    .tools.map(({ name }) => name);

  test.each(all)("without %s nothing the model reads speaks of it", async (name) => {
    const { agent } = profiled({ excludedTools: [name] }, [], { backend: shell(), memory: ["/AGENTS.md"] });
    const { systemPrompt, tools } = agent.describe();
    expect(tools.map((one) => one.name)).toEqual(all.filter((one) => one !== name));
    for (const text of [systemPrompt, ...tools.map(({ description }) => description)])
      expect(text).not.toMatch(new RegExp(name.includes("_") ? `\\b${name}\\b` : `\`${name}\``));
  });
});

const runs: string[] = [];
const banned = tool(() => String(runs.push("ran")), {
  name: "banned",
  description: "Bad.",
  schema: z.object({}),
});

describe("middleware of a profile", () => {
  const names = (agent: { describe(): { middleware: readonly { name: string }[] } }) =>
    agent.describe().middleware.map(({ name }) => name);
  const named = (name: string) => createMiddleware({ name });

  test("excluded middleware is gone, in whatever case, also the user's", () => {
    const { agent } = profiled(
      { excludedMiddleware: ["summarizationMiddleware", "TODOLISTMIDDLEWARE", "mine"] },
      [],
      {
        middleware: [named("mine"), named("other")],
      },
    );
    expect(names(agent)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/summarization|todo|mine/i)]),
    );
    expect(names(agent)).toContain("other");
    expect(agent.describe().tools.map(({ name }) => name)).not.toContain("write_todos");
  });

  test("extra middleware stands behind the user's, made for each agent", () => {
    let made = 0;
    const extraMiddleware = () => {
      made += 1;
      return [named("extra")];
    };
    const { agent, model } = profiled({ extraMiddleware }, [], { middleware: [named("mine")] });
    expect(names(agent).slice(-2)).toEqual(["mine", "extra"]);
    createDeepAgent({ model });
    expect(made).toBeGreaterThanOrEqual(2);
  });

  test("of two with one name the user's counts; in place of a built-in one it is put in its place", () => {
    const mine = named("Extra");
    const todo = named("todoListMiddleware");
    const { agent } = profiled({ extraMiddleware: [named("extra"), todo] }, [], { middleware: [mine] });
    expect(names(agent)[0]).toBe("todoListMiddleware");
    expect(names(agent).filter((name) => /extra/i.test(name))).toEqual(["Extra"]);
    expect(agent.describe().tools.map(({ name }) => name)).not.toContain("write_todos");
  });
});

describe("the general-purpose subagent", () => {
  const taskOf = (profile: HarnessProfileOptions, options: CreateDeepAgentParams<any> = {}) =>
    profiled(profile, [], options)
      .agent.describe()
      .tools.find(({ name }) => name === "task");

  test("is there unless a profile disables it", () => {
    expect(taskOf({})?.description).toContain("general-purpose");
    const disabled = { generalPurposeSubagent: { enabled: false } };
    expect(taskOf(disabled)).toBeUndefined();
    const subagents = [{ name: "scout", description: "Scouts.", systemPrompt: "Scout." }];
    expect(taskOf(disabled, { subagents })?.description).not.toContain("general-purpose");
    expect(taskOf(disabled, { subagents })?.description).toContain("scout");
  });

  test("has the name, the description and the prompt of the profile", async () => {
    const { agent, model } = profiled(
      { generalPurposeSubagent: { name: "helper", description: "Helps out.", systemPrompt: "You help." } },
      [callTool("task", { description: "Do it.", subagent_type: "helper" }), say("helped"), say("done")],
    );
    expect(agent.describe().tools.find(({ name }) => name === "task")?.description).toContain(
      "helper: Helps out.",
    );
    await agent.invoke(ask);
    expect(promptOf(model, 1)).toMatch(/^You help\./);
  });

  test("children have the profile of their own model", async () => {
    const child = newProvider();
    registerHarnessProfile(`scripted:${child}`, { systemPromptSuffix: "Child's.", excludedTools: ["ls"] });
    const childModel = scriptedModel([say("helped")], { modelName: child });
    const { agent, model } = profiled(
      { systemPromptSuffix: "Parent's.", excludedTools: ["grep"] },
      [callTool("task", { description: "Do it.", subagent_type: "scout" }), say("done")],
      { subagents: [{ name: "scout", description: "Scouts.", systemPrompt: "Scout.", model: childModel }] },
    );
    await agent.invoke(ask);
    expect(promptOf(model)).toMatch(/Parent's\.$/);
    expect(promptOf(childModel)).toMatch(/^Scout\..*Child's\.$/s);
    const [ours, theirs] = [model, childModel].map((one) => toolsOf(one).map(({ name }) => name));
    expect(ours).toContain("ls");
    expect(ours).not.toContain("grep");
    expect(theirs).toContain("grep");
    expect(theirs).not.toContain("ls");
  });
});
