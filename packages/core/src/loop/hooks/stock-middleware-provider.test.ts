/** LangChain's middlewares that use what one provider can do, in our loop. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  anthropicPromptCachingMiddleware,
  bedrockPromptCachingMiddleware,
  providerToolSearchMiddleware,
} from "langchain";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });
const lookUp = tool(() => "found", {
  name: "look_up",
  description: "Looks something up.",
  schema: z.object({}),
});

describe("anthropicPromptCachingMiddleware", () => {
  test("requests to Anthropic carry the cache marker once the thread is long enough", async () => {
    const model = scriptedModel([callTool("look_up"), say("done")], { name: "ChatAnthropic" });
    const agent = createDeepAgent({
      model,
      tools: [lookUp],
      middleware: [anthropicPromptCachingMiddleware({ ttl: "1h", minMessagesToCache: 3 })],
    });
    await agent.invoke(ask());
    expect(model.calls.map((call) => call.options.cache_control)).toEqual([
      undefined,
      { type: "ephemeral", ttl: "1h" },
    ]);
  });

  test("the caller's context may turn it off", async () => {
    const model = scriptedModel([say("done")], { name: "ChatAnthropic" });
    const agent = createDeepAgent({
      model,
      middleware: [anthropicPromptCachingMiddleware({ minMessagesToCache: 0 })],
    });
    await agent.invoke(ask(), { context: { enableCaching: false } });
    expect(model.calls[0]?.options.cache_control).toBeUndefined();
  });

  test("other models are left alone, with a warning or an error as configured", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const run = (unsupportedModelBehavior: "warn" | "raise") => {
      const model = scriptedModel([say("done")]);
      const middleware = [
        anthropicPromptCachingMiddleware({ minMessagesToCache: 0, unsupportedModelBehavior }),
      ];
      return { model, done: createDeepAgent({ model, middleware }).invoke(ask()) };
    };
    const { model, done } = run("warn");
    await done;
    expect(model.calls[0]?.options.cache_control).toBeUndefined();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("Skipping caching for ScriptedModel"));
    warn.mockRestore();
    await expect(run("raise").done).rejects.toThrow(/Prompt caching requires an Anthropic model/);
  });
});

describe("bedrockPromptCachingMiddleware", () => {
  const bedrock = (id: string) =>
    Object.assign(scriptedModel([say("done")], { name: "ChatBedrockConverse" }), { model: id });

  test("requests to Claude and Nova on Bedrock carry the cache marker", async () => {
    for (const id of ["eu.anthropic.claude-sonnet-4-5-v1:0", "amazon.nova-pro-v1:0"]) {
      const model = bedrock(id);
      await createDeepAgent({ model, middleware: [bedrockPromptCachingMiddleware()] }).invoke(ask());
      expect(model.calls[0]?.options.cache_control).toEqual({ type: "ephemeral", ttl: "5m" });
    }
  });

  test("other models on Bedrock do not", async () => {
    const model = bedrock("meta.llama3-70b");
    const middleware = [bedrockPromptCachingMiddleware({ unsupportedModelBehavior: "ignore" })];
    await createDeepAgent({ model, middleware }).invoke(ask());
    expect(model.calls[0]?.options.cache_control).toBeUndefined();
  });
});

describe("providerToolSearchMiddleware", () => {
  const searching = (name: string) => {
    const model = scriptedModel([callTool("look_up"), say("done")], { name });
    const agent = createDeepAgent({
      model,
      tools: [lookUp],
      middleware: [providerToolSearchMiddleware({ searchableTools: ["look_up"] })],
    });
    return { model, agent };
  };

  test.each([
    ["ChatAnthropic", { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" }],
    ["ChatOpenAI", { type: "tool_search" }],
  ])(
    "with %s the tool is deferred, the provider's search is offered, and a call still runs",
    async (name, search) => {
      const { model, agent } = searching(name);
      const { messages } = await agent.invoke(ask());
      const tools = model.calls[0]?.tools as { name?: string; extras?: object }[];
      expect(tools.find((bound) => bound.name === "look_up")?.extras).toEqual({ defer_loading: true });
      expect(tools.at(-1)).toEqual(search);
      expect(messages.filter(ToolMessage.isInstance).map((m) => m.text)).toEqual(["found"]);
      expect(model.calls[0]?.messages[0]?.text).toBe(agent.describe().systemPrompt);
    },
  );

  test("a provider without such a search is refused", async () => {
    await expect(searching("ScriptedModel").agent.invoke(ask())).rejects.toThrow(/server-side tool search/);
  });
});
