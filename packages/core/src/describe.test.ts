import { tool } from "@langchain/core/tools";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { say, scriptedModel } from "./testing/index.ts";
import { estimateTokens } from "./tokens.ts";

const lookUp = tool(() => "found", {
  name: "look_up",
  description: "Looks something up.\nSecond line.",
  schema: z.object({ what: z.string() }),
});
const agent = () =>
  createDeepAgent({
    name: "scout",
    model: scriptedModel([say("done")], { modelName: "m-1" }),
    systemPrompt: "Be brief.",
    tools: [lookUp, { type: "web_search" }],
    middleware: [
      createMiddleware({
        name: "watching",
        beforeModel: () => undefined,
        wrapToolCall: (request, handler) => handler(request),
      }),
    ],
  });

describe("describe()", () => {
  test("tells name, model, prompt, tools and middleware in order", () => {
    const description = agent().describe();
    expect(description).toMatchObject({ name: "scout", model: "ScriptedModel m-1" });
    expect(description.systemPrompt).toMatch(/^Be brief\.\n\nYou are a capable agent/);
    expect(description.tools.map(({ name }) => name)).toEqual([
      "look_up",
      "(provider tool)",
      "write_todos",
      "ls",
      "read_file",
      "write_file",
      "edit_file",
      "delete",
      "glob",
      "grep",
      "task",
    ]);
    expect(description.middleware.map(({ name }) => name)).toEqual([
      "todoListMiddleware",
      "FilesystemMiddleware",
      "subAgentMiddleware",
      "SummarizationMiddleware",
      "PromptCachingMiddleware",
      "ModelRetryMiddleware",
      "BudgetMiddleware",
      "LoopDetectionMiddleware",
      "watching",
    ]);
    expect(description.middleware.at(-1)?.hooks).toEqual(["beforeModel", "wrapToolCall"]);
  });

  test("tells what each part costs, and the sum", () => {
    const { tokens, tools, systemPrompt } = agent().describe();
    expect(tokens.prompt).toBe(estimateTokens(systemPrompt));
    expect(tokens.tools).toBe(tools.reduce((sum, one) => sum + one.tokens, 0));
    expect(tokens.total).toBe(tokens.prompt + tokens.tools);
    for (const one of tools) expect(one.tokens).toBeGreaterThan(0);
  });

  test("prints well", () => {
    const text = String(agent().describe());
    expect(text).toMatch(/^agent scout on ScriptedModel m-1\nabout \d+ tokens before the first message/);
    expect(text).toMatch(/^ {2}watching \(beforeModel, wrapToolCall\)$/m);
    expect(text).toMatch(/^ {2}look_up \(\d+\): Looks something up\.$/m);
    expect(text).toContain("system prompt:\nBe brief.");
  });

  test("is what the model gets", async () => {
    const model = scriptedModel([say("done")]);
    const described = createDeepAgent({ model, tools: [lookUp] });
    await described.invoke({ messages: ["Go."] });
    const { systemPrompt, tools } = described.describe();
    expect(model.calls[0]?.messages[0]?.text).toBe(systemPrompt);
    expect(model.calls[0]?.tools.map((bound) => (bound as { name: string }).name)).toEqual(
      tools.map(({ name }) => name),
    );
  });
});
