import { SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { InMemoryCache } from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { ConfigurationError } from "./errors.ts";
import { DEFAULT_MODEL } from "./options.ts";
import { BASE_AGENT_PROMPT } from "./prompts.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";

const ask = () => ({ messages: [{ role: "user", content: "Go." }] });
const plain = (name: string) => tool(() => "ok", { name, description: "Does it.", schema: z.object({}) });

describe("createDeepAgent(options)", () => {
  test("needs none, and does no I/O", () => {
    for (const agent of [createDeepAgent(), createDeepAgent({})])
      expect(agent.describe().model).toBe("anthropic:claude-sonnet-4-6");
    expect(DEFAULT_MODEL).toBe("anthropic:claude-sonnet-4-6");
  });

  test("an unknown option is an error that names it and the known ones", () => {
    for (const option of ["modle", "subagent", "permission", "profiles"])
      expect(() => createDeepAgent({ [option]: [] } as never)).toThrow(
        expect.objectContaining({
          name: "ConfigurationError",
          code: "UNKNOWN_OPTION",
          message: expect.stringMatching(new RegExp(`'${option}'.*model, tools, systemPrompt`)),
        }),
      );
  });

  test.each([["a string"], [42], [null]])("options that are %j are refused", (options) => {
    expect(() => createDeepAgent(options as never)).toThrow(ConfigurationError);
  });

  test("null means absent, for every option", () => {
    const options = Object.fromEntries(
      [
        "model",
        "tools",
        "systemPrompt",
        "profile",
        "middleware",
        "subagents",
        "permissions",
        "permissionCeiling",
        "budget",
        "memory",
        "skills",
        "stateSchema",
        "contextSchema",
        "responseFormat",
        "checkpointer",
        "threadClaim",
        "store",
        "cache",
        "backend",
        "interruptOn",
        "toolTimeout",
        "toolConcurrency",
        "name",
        "debug",
        "streamTransformers",
      ].map((key) => [key, null]),
    );
    expect(createDeepAgent(options).describe().toString()).toBe(createDeepAgent().describe().toString());
  });

  test("empty lists and objects are legal", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      tools: [],
      middleware: [],
      systemPrompt: {},
      interruptOn: {},
      toolTimeout: {},
      toolConcurrency: {},
      streamTransformers: [],
      stateSchema: z.object({}),
      contextSchema: z.object({}),
      responseFormat: [],
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("done");
  });

  test.each([
    ["tools", "ls"],
    ["tools", { ls: 1 }],
    ["middleware", "todo"],
    ["streamTransformers", {}],
    ["model", 42],
    ["model", ""],
    ["model", {}],
    ["systemPrompt", 42],
    ["systemPrompt", { prefx: "x" }],
    ["systemPrompt", { base: 42 }],
    ["contextSchema", "user"],
    ["stateSchema", []],
    ["interruptOn", { ls: "yes" }],
    ["interruptOn", { ls: { allowedDecisions: ["aprove"] } }],
    ["toolTimeout", -1],
    ["toolTimeout", "5"],
    ["toolConcurrency", 0],
    ["toolConcurrency", { ls: Number.NaN }],
    ["threadClaim", true],
    ["threadClaim", { mode: "wait" }],
    ["threadClaim", { mode: "queue" }],
    ["name", 42],
  ])("%s: %j is refused when the agent is built", (option, value) => {
    expect(() => createDeepAgent({ [option]: value } as never)).toThrow(
      expect.objectContaining({ name: "ConfigurationError", code: "INVALID_OPTION" }),
    );
  });

  test("cache and debug are accepted", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("done")]),
      cache: new InMemoryCache(),
      debug: false,
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("done");
  });
});

describe("tools", () => {
  test.each(["write_todos", "read_file", "ls", "grep"])(
    "one called %s clashes with the built-in one",
    (name) => {
      expect(() => createDeepAgent({ tools: [plain(name)] })).toThrow(
        expect.objectContaining({
          name: "ConfigurationError",
          code: "TOOL_NAME_COLLISION",
          message: expect.stringContaining(`'${name}'`),
        }),
      );
    },
  );

  test("two of one name clash", () => {
    expect(() => createDeepAgent({ tools: [plain("a"), plain("a")] })).toThrow(
      expect.objectContaining({ code: "TOOL_NAME_COLLISION" }),
    );
  });

  test("functions with a schema are tools", async () => {
    const calls: unknown[] = [];
    function add({ a, b }: { a: number; b: number }, runtime: { toolCallId?: string }) {
      calls.push(runtime.toolCallId);
      return String(a + b);
    }
    Object.assign(add, {
      schema: z.object({ a: z.number(), b: z.number() }),
      description: "Adds two numbers.",
    });
    const named = Object.assign(() => "named", { schema: z.object({}) });
    Object.defineProperty(named, "name", { value: "given_name" });
    const model = scriptedModel([
      { toolCalls: [{ name: "add", args: { a: 1, b: 2 }, id: "c" }, { name: "given_name" }] },
      say("done"),
    ]);
    const agent = createDeepAgent({ model, tools: [add, named] });
    const { messages } = await agent.invoke(ask());
    expect(messages.slice(2, 4).map((m) => m.text)).toEqual(["3", "named"]);
    expect(calls).toEqual(["c"]);
    const described = agent.describe().tools.find(({ name }) => name === "add");
    expect(described?.description).toBe("Adds two numbers.");
  });

  test("a function without a schema or a name is refused, with its place", () => {
    const unnamed = Object.defineProperty(
      Object.assign(() => "x", { schema: z.object({}) }),
      "name",
      { value: "" },
    );
    for (const bad of [() => "x", unnamed, "ls", 42, null])
      expect(() => createDeepAgent({ tools: [plain("a"), bad as never] })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("tools[1]") }),
      );
  });

  test("records are tools the provider runs: bound, described, never run by us", async () => {
    const search = { type: "web_search_20250305", name: "web_search", max_uses: 3 };
    const model = scriptedModel([callTool("web_search"), say("done")]);
    const agent = createDeepAgent({ model, tools: [search] });
    const { messages } = await agent.invoke(ask());
    expect(model.calls[0]?.tools[0]).toBe(search);
    expect(messages[2]?.text).toMatch(/There is no tool 'web_search'/);
    expect(agent.describe().tools[0]?.name).toBe("web_search");
  });
});

describe("systemPrompt", () => {
  const promptOf = (systemPrompt: unknown) =>
    createDeepAgent({ systemPrompt: systemPrompt as never, profile: false }).describe().systemPrompt;

  test("absent: the base prompt, then the sections of the middleware", () => {
    expect(promptOf(undefined)).toMatch(
      new RegExp(`^${escapeRegExp(BASE_AGENT_PROMPT)}\n\n## Todo list\n[^]*\n\n## Files\n`),
    );
  });

  test("a string stands before all others", () => {
    expect(promptOf("Be brief.")).toBe(`Be brief.\n\n${promptOf(undefined)}`);
    expect(promptOf("")).toBe(promptOf(undefined));
  });

  test("prefix, base and suffix: around, instead of the base prompt, and at the end", () => {
    const whole = promptOf(undefined);
    const sections = whole.slice(BASE_AGENT_PROMPT.length);
    expect(promptOf({ prefix: "P", base: "B", suffix: "S" })).toBe(`P\n\nB${sections}\n\nS`);
    expect(promptOf({ prefix: "P" })).toBe(`P\n\n${whole}`);
    expect(promptOf({ base: "" })).toBe(sections.trimStart());
    expect(promptOf({ suffix: "S" })).toBe(`${whole}\n\nS`);
    expect(promptOf({ prefix: null, suffix: null })).toBe(whole);
    expect(promptOf({ base: null })).toBe(sections.trimStart());
  });

  test("parts may be a SystemMessage, which keeps its blocks", async () => {
    const block = { type: "text" as const, text: "Last.", cache_control: { type: "ephemeral" } };
    const model = scriptedModel([say("done")]);
    const systemPrompt = {
      prefix: "First.",
      base: new SystemMessage("Base."),
      suffix: new SystemMessage({ content: [block] }),
    };
    await createDeepAgent({ model, systemPrompt }).invoke(ask());
    const [system] = model.calls[0]?.messages ?? [];
    expect(system?.text).toMatch(/^First\.\s+Base\.[\s\S]*Last\.$/);
    expect(system?.content).toContainEqual(block);
  });

  test("a SystemMessage of text is like a string, one of blocks keeps them", async () => {
    const blocks = [
      { type: "text" as const, text: "One.", cache_control: { type: "ephemeral" } },
      { type: "text" as const, text: "Two." },
    ];
    const model = scriptedModel([say("done"), say("done")]);
    await createDeepAgent({ model, systemPrompt: new SystemMessage("Be brief.") }).invoke(ask());
    expect(model.calls[0]?.messages[0]?.text).toMatch(/^Be brief\./);
    await createDeepAgent({ model, systemPrompt: new SystemMessage({ content: blocks }) }).invoke(ask());
    const content = model.calls[1]?.messages[0]?.content as object[];
    expect(content.slice(0, 3)).toEqual([...blocks, { type: "text", text: `\n\n${BASE_AGENT_PROMPT}` }]);
  });

  test("is the same, byte for byte, in every request", async () => {
    const model = scriptedModel([callTool("ls"), callTool("ls"), say("done")]);
    await createDeepAgent({ model }).invoke(ask());
    const prompts = new Set(model.calls.map((call) => call.messages[0]?.text));
    expect(prompts.size).toBe(1);
  });
});

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

describe("model", () => {
  test("a string names the provider up to the first colon; a missing package is named with its install line", async () => {
    const agent = createDeepAgent({ model: "bedrock:some:model" });
    expect(agent.describe().model).toBe("bedrock:some:model");
    await expect(agent.invoke(ask())).rejects.toMatchObject({
      name: "DeepwrightError",
      code: "MODEL_NOT_AVAILABLE",
      message: expect.stringContaining("npm install @langchain/aws"),
    });
  });

  test("an unknown provider is an error that says what is wrong", async () => {
    await expect(createDeepAgent({ model: "nosuch:model" }).invoke(ask())).rejects.toMatchObject({
      code: "MODEL_NOT_AVAILABLE",
      message: expect.stringContaining("'nosuch:model'"),
    });
  });

  test("an installed provider is loaded at first use", async () => {
    const agent = createDeepAgent({ model: "openai:gpt-4o" });
    const key = process.env.OPENAI_API_KEY;
    delete process.env.OPENAI_API_KEY;
    try {
      await expect(agent.invoke(ask())).rejects.toThrow(/credentials/i);
    } finally {
      if (key !== undefined) process.env.OPENAI_API_KEY = key;
    }
  });

  test("an instance is described by class and model", () => {
    expect(createDeepAgent({ model: scriptedModel([], { modelName: "m-1" }) }).describe().model).toBe(
      "ScriptedModel m-1",
    );
  });

  test("with tools bound already is refused", () => {
    const bound = scriptedModel([]).bindTools([plain("a")]);
    for (const model of [bound, bound.withConfig({ tags: ["outer"] })])
      expect(() => createDeepAgent({ model })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("bindTools") }),
      );
  });

  test("with settings bound keeps them", async () => {
    const model = scriptedModel([say("done")]);
    const agent = createDeepAgent({ model: model.withConfig({ stop: ["X"], tags: ["mine"] } as never) });
    await agent.invoke(ask());
    expect(model.calls[0]?.options.stop).toEqual(["X"]);
    expect(model.calls[0]?.tools.length).toBeGreaterThan(0);
  });
});
