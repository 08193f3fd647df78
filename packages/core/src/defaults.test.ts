import { tool } from "@langchain/core/tools";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";

const plain = tool(() => "looked", { name: "look_up", description: "Looks it up.", schema: z.object({}) });
const now = new Date(0).toISOString();
const input = {
  messages: [{ role: "user", content: "Go." }],
  files: {
    "/AGENTS.md": { content: "Likes tea.", created_at: now, modified_at: now },
    "/skills/a/SKILL.md": {
      content: "---\nname: a\ndescription: Does a.\n---\nDo a.",
      created_at: now,
      modified_at: now,
    },
  },
};

const { files: _files, ...asked } = input;

function agentWith(middleware: readonly unknown[], options: object = {}) {
  const model = scriptedModel([callTool("look_up"), say("done")]);
  const agent = createDeepAgent({
    model,
    tools: [plain],
    memory: ["/AGENTS.md"],
    skills: ["/skills/"],
    systemPrompt: "Mine.",
    middleware: middleware as never,
    ...options,
  });
  return { model, agent };
}

const whole = agentWith([]).agent.describe();
const slots = whole.middleware.map(({ name }) => name);

describe("nothing an agent has by default is locked", () => {
  test("there are defaults to take away", () => {
    expect(slots.length).toBeGreaterThanOrEqual(9);
  });

  test.each(slots)("without %s an agent still runs, and describe() shows it gone", async (name) => {
    const { agent, model } = agentWith([{ [name]: false }]);
    const result = await agent.invoke(name === "FilesystemMiddleware" ? asked : input);
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(result.messages.at(-2)?.text).toBe("looked");
    const { middleware, tools, systemPrompt } = agent.describe();
    expect(middleware.map((one) => one.name)).toEqual(slots.filter((one) => one !== name));
    expect(model.calls[0]?.tools.map((one) => (one as { name: string }).name)).toEqual(
      tools.map((one) => one.name),
    );
    expect(systemPrompt).toMatch(/^Mine\./);
  });

  test.each(slots)("in place of %s stands whatever is given under its name", async (name) => {
    const { agent } = agentWith([
      createMiddleware({ name, wrapModelCall: (request, handler) => handler(request) }),
    ]);
    const { messages } = await agent.invoke(name === "FilesystemMiddleware" ? asked : input);
    expect(messages.at(-1)?.text).toBe("done");
    expect(agent.describe().middleware.map((one) => one.name)).toHaveLength(slots.length);
    expect(agent.describe().middleware.find((one) => one.name === name)?.hooks).toEqual(["wrapModelCall"]);
  });

  const everything = { ...Object.fromEntries(slots.map((name) => [name, false])) };

  test("with all of it gone a request has the user's words and tools, and nothing else", async () => {
    const { agent, model } = agentWith([everything], {
      systemPrompt: { prefix: "Mine.", base: "" },
      profile: false,
    });
    const result = await agent.invoke(asked);
    expect(result).toEqual({ messages: expect.any(Array), outcome: { kind: "done" } });
    const [first] = model.calls;
    expect(first?.messages.map(({ type, text }) => [type, text])).toEqual([
      ["system", "Mine."],
      ["human", "Go."],
    ]);
    expect(first?.tools).toEqual([plain]);
    const { tokens, middleware } = agent.describe();
    expect(middleware).toEqual([]);
    expect(tokens.prompt).toBeLessThan(5);
  });

  test("without words and tools of the user's there are none at all", async () => {
    const { agent, model } = agentWith([everything], { systemPrompt: { base: "" }, tools: [] });
    await agent.invoke({ messages: input.messages });
    expect(model.calls[0]?.messages.map(({ type }) => type)).toEqual(["human"]);
    expect(model.calls[0]?.tools).toEqual([]);
    expect(agent.describe().tokens).toEqual({ prompt: 0, tools: 0, total: 0 });
  });

  test("each default tool can be taken away by itself", () => {
    const names = whole.tools.map(({ name }) => name);
    expect(names).toContain("task");
    for (const name of names) {
      const { agent } = agentWith([], { profile: { excludedTools: [name] } });
      expect(agent.describe().tools.map((one) => one.name)).toEqual(names.filter((one) => one !== name));
    }
  });

  test("the words for a family of models go with the profile, for one agent or all", () => {
    const model = "anthropic:claude-sonnet-4-6";
    const prompt = (profile?: false | { systemPromptSuffix: string }) =>
      createDeepAgent({ model, profile }).describe().systemPrompt;
    const bare = prompt(false);
    expect(prompt().startsWith(bare)).toBe(true);
    expect(prompt().length).toBeGreaterThan(bare.length);
    expect(prompt({ systemPromptSuffix: "" })).toBe(bare);
  });
});
