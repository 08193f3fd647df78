import { ChatAnthropic } from "@langchain/anthropic";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { AzureChatOpenAI, ChatOpenAI } from "@langchain/openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { TaskConfig } from "../../engine/engine.ts";
import type { Outgoing } from "../../loop/contract/stages.ts";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { scriptedModel } from "../../testing/index.ts";
import { requestTokens } from "../tokens/token-meter.ts";
import { type PromptCacheSettings, withCacheHints } from "./prompt-cache.ts";

const SHORT = { type: "ephemeral" };
const LONG = { type: "ephemeral", ttl: "1h" };
const SETTINGS: PromptCacheSettings = {
  ttl: "5m",
  anthropic: true,
  bedrock: true,
  promptCacheKey: undefined,
};

const claude = new ChatAnthropic({ apiKey: "key", model: "claude-sonnet-4-5" }) as unknown as ChatModel;
const system = new SystemMessage({ content: "Be brief." });
const ls = tool(() => "", { name: "ls", description: "Lists.", schema: z.object({ path: z.string() }) });
const grep = tool(() => "", { name: "grep", description: "Searches.", schema: z.object({}) });
const call = (...ids: string[]) =>
  new AIMessage({ content: "", tool_calls: ids.map((id) => ({ id, name: "ls", args: { path: "/" } })) });
const result = (id: string, content: unknown = `result ${id}`) =>
  new ToolMessage({ tool_call_id: id, content: content as string });
const person = (content: unknown) => new HumanMessage({ content: content as string });

function outgoing(messages: readonly BaseMessage[], rest: Partial<Outgoing> = {}): Outgoing {
  return { model: claude, messages, tools: [ls, grep], settings: {}, ...rest };
}

const config = (thread?: string, agent?: string): TaskConfig =>
  ({ configurable: { thread_id: thread }, metadata: { lc_agent_name: agent } }) as never;

function hinted(sent: Outgoing, settings: Partial<PromptCacheSettings> = {}): Promise<Outgoing> {
  return withCacheHints(sent, { ...SETTINGS, ...settings }, config("one"));
}

/** Where the markers are: "tool grep", "0", "3", and what they say. */
function markers(sent: Outgoing): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const one of sent.tools as { name: string; cache_control?: unknown }[])
    if (one.cache_control) found[`tool ${one.name}`] = one.cache_control;
  sent.messages.forEach(({ content }, index) => {
    if (typeof content === "string") return;
    for (const block of content as { cache_control?: unknown }[])
      if (block.cache_control) found[index] = block.cache_control;
  });
  return found;
}

describe("requests to Anthropic", () => {
  test("are marked behind the tools, the system prompt and the last two turns that are not the model's", async () => {
    const messages = [
      system,
      person("Go."),
      call("a"),
      result("a"),
      call("b", "c"),
      result("b"),
      result("c"),
    ];
    const sent = await hinted(outgoing(messages));
    expect(markers(sent)).toEqual({ "tool grep": SHORT, 0: SHORT, 3: SHORT, 6: SHORT });
    expect(sent.messages[6]?.content).toEqual([
      { type: "tool_result", content: "result c", tool_use_id: "c", cache_control: SHORT },
    ]);
  });

  test("leave what they were made from as it was, and are made from the same copies again", async () => {
    const messages = [system, person("Go."), call("a"), result("a")];
    const before = JSON.stringify(messages);
    const first = await hinted(outgoing(messages));
    const second = await hinted(outgoing([...messages]));
    expect(JSON.stringify(messages)).toBe(before);
    expect((ls as { extras?: unknown }).extras).toBeUndefined();
    first.messages.forEach((message, index) => {
      expect(second.messages[index]).toBe(message);
    });
    expect(second.tools[1]).toBe(first.tools[1]);
  });

  test("a message edited in place is marked anew", async () => {
    const edited = person("Go.");
    await hinted(outgoing([edited]));
    edited.content = "Stop.";
    const sent = await hinted(outgoing([edited]));
    expect(sent.messages[0]?.content).toEqual([{ type: "text", text: "Stop.", cache_control: SHORT }]);
  });

  test("what one request was marked with last, the next is marked with too", async () => {
    const messages: BaseMessage[] = [system, person("Go.")];
    let last = "1";
    for (let turn = 0; turn < 10; turn += 1) {
      const ids = Array.from({ length: 1 + (turn % 4) * 8 }, (_, index) => `${turn}-${index}`);
      messages.push(call(...ids), ...ids.map((id) => result(id)));
      const places = Object.keys(markers(await hinted(outgoing(messages))));
      expect(places).toContain(last);
      last = String(messages.length - 1);
      expect(places).toContain(last);
    }
  });

  test.each([
    ["a picture", [{ type: "image", mimeType: "image/png", data: "AAAA" }], "3"],
    [
      "texts",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      "3",
    ],
    [
      "something the client alone knows how to send",
      [{ type: "image_url", image_url: "https://x/y.png" }],
      "1",
    ],
  ])("a result that is %s", async (_, content, place) => {
    const sent = await hinted(outgoing([system, person("Go."), call("a"), result("a", content)]));
    expect(Object.keys(markers(sent))).toContain(place);
  });

  test("no marker stands on an empty text", async () => {
    const sent = await hinted(outgoing([person("Go."), new AIMessage("Yes?"), person(" ")]));
    expect(markers(sent)).toEqual({ "tool grep": SHORT, 0: SHORT });
  });

  test("a tool that is loaded later is not marked", async () => {
    const later = Object.assign(
      tool(() => "", { name: "later", description: "Later.", schema: z.object({}) }),
      { extras: { defer_loading: true } },
    );
    const sent = await hinted(outgoing([person("Go.")], { tools: [ls, later] }));
    expect(Object.keys(markers(sent))).toEqual(["0", "tool ls"]);
    expect(sent.tools[1]).toBe(later);
  });

  test("markers of somebody else stay and count", async () => {
    const own = (ttl?: string) => [
      { type: "text", text: "x", cache_control: ttl ? { type: "ephemeral", ttl } : SHORT },
    ];
    const two = [system, person(own()), new AIMessage("a"), person(own()), new AIMessage("b"), person("Go.")];
    const sent = await hinted(outgoing(two));
    expect(Object.keys(markers(sent))).toEqual(["0", "1", "3", "5"]);
    const four = [person([...own(), ...own(), ...own(), ...own()]), new AIMessage("a"), person("Go.")];
    const untouched = outgoing(four);
    expect(await hinted(untouched)).toBe(untouched);
  });

  test("a marker for the whole request takes the place of the newest", async () => {
    const messages = [system, person("Go."), call("a"), result("a")];
    const sent = await hinted(outgoing(messages, { settings: { cache_control: SHORT } }));
    expect(Object.keys(markers(sent))).toEqual(["0", "1", "tool grep"]);
  });

  test("long markers stand before short ones", async () => {
    const own = (ttl: string) => [{ type: "text", text: "x", cache_control: { type: "ephemeral", ttl } }];
    const messages = (ttl: string) => [system, person(own(ttl)), new AIMessage("a"), person("Go.")];
    const long = await hinted(outgoing(messages("5m")), { ttl: "1h" });
    expect(markers(long)).toMatchObject({ "tool grep": LONG, 0: LONG, 3: SHORT });
    const short = await hinted(outgoing(messages("1h")), { ttl: "5m" });
    expect(markers(short)).toMatchObject({ "tool grep": LONG, 0: LONG, 3: SHORT });
  });

  test("a model with something bound to it is still Anthropic's", async () => {
    const model = claude.withConfig({ tags: ["mine"] }) as unknown as ChatModel;
    const sent = await hinted(outgoing([person("Go.")], { model }));
    expect(Object.keys(markers(sent))).toEqual(["0", "tool grep"]);
  });

  test("are counted as before", async () => {
    const messages = [system, person("Go."), call("a"), result("a", "a line of a file\n".repeat(2000))];
    const tokens = ({ messages: [prompt, ...rest], tools, model }: Outgoing) =>
      requestTokens({ system: prompt as SystemMessage, tools, messages: rest, model });
    const plain = tokens(outgoing(messages));
    const marked = tokens(await hinted(outgoing(messages)));
    expect(Math.abs(marked / plain - 1)).toBeLessThan(0.01);
  });

  test("are left alone when that is wanted", async () => {
    const sent = outgoing([system, person("Go.")]);
    expect(await hinted(sent, { anthropic: false })).toBe(sent);
  });
});

describe("requests to Bedrock", () => {
  const bedrock = (model: string) =>
    Object.assign(scriptedModel([]), { name: "ChatBedrockConverse", model }) as unknown as ChatModel;
  const claudeOnBedrock = bedrock("eu.anthropic.claude-sonnet-4-5-v1:0");

  test("ask the client for cache points where the model takes them", async () => {
    const sent = outgoing([system, person("Go.")], { model: claudeOnBedrock });
    const first = await hinted(sent);
    expect(first.settings).toEqual({ cache_control: { type: "ephemeral", ttl: "5m" } });
    expect((await hinted(sent)).settings.cache_control).toBe(first.settings.cache_control);
    expect((await hinted(sent, { ttl: "1h" })).settings.cache_control).toEqual(LONG);
    const llama = { ...sent, model: bedrock("meta.llama3-70b") };
    expect(await hinted(llama)).toBe(llama);
    expect(await hinted(sent, { bedrock: false })).toBe(sent);
  });

  test("with cache points of somebody else are left alone", async () => {
    const point = [{ type: "text", text: "x" }, { cachePoint: { type: "default" } }];
    const sent = outgoing([person(point)], { model: claudeOnBedrock });
    expect(await hinted(sent)).toBe(sent);
  });
});

describe("requests to OpenAI", () => {
  const openai = (fields: object = {}) =>
    new ChatOpenAI({ apiKey: "key", model: "gpt-5.4", ...fields }) as unknown as ChatModel;
  const at = (baseURL: string) => openai({ configuration: { baseURL } });
  const keyOf = async (model: ChatModel, settings: Partial<PromptCacheSettings> = {}, ...who: string[]) => {
    const sent = outgoing([person("Go.")], { model });
    const { settings: given } = await withCacheHints(
      sent,
      { ...SETTINGS, ...settings },
      config(...(who.length > 0 ? who : ["one"])),
    );
    return given.promptCacheKey;
  };

  test("carry a key that is the same for a thread and tells nothing about it", async () => {
    const key = await keyOf(openai());
    expect(key).toMatch(/^deepwright-[0-9a-f]{32}$/);
    expect(await keyOf(openai({ useResponsesApi: true }))).toBe(key);
    expect(await keyOf(openai(), {}, "two")).not.toBe(key);
    expect(await keyOf(openai(), {}, "one", "scout")).not.toBe(key);
    expect(String(await keyOf(openai(), {}, "x".repeat(500))).length).toBeLessThanOrEqual(64);
  });

  test("go to Azure with a key too", async () => {
    const azure = new AzureChatOpenAI({
      azureOpenAIApiKey: "key",
      azureOpenAIApiInstanceName: "mine",
      azureOpenAIApiDeploymentName: "gpt",
      azureOpenAIApiVersion: "2025-01-01",
    }) as unknown as ChatModel;
    expect(await keyOf(azure)).toBeDefined();
    expect(await keyOf(at("https://mine.openai.azure.com/openai/v1"))).toBeDefined();
    expect(await keyOf(at("https://eu.api.openai.com/v1"))).toBeDefined();
  });

  test("carry none to a server that merely speaks the language, unless it is asked for", async () => {
    for (const url of ["http://127.0.0.1:8000/v1", "https://api.openai.com.evil.example/v1", "nonsense"]) {
      expect(await keyOf(at(url))).toBeUndefined();
      expect(await keyOf(at(url), { promptCacheKey: true })).toBeDefined();
    }
    expect(await keyOf(openai(), { promptCacheKey: false })).toBeUndefined();
  });

  test("keep a key somebody else gave", async () => {
    expect(await keyOf(openai({ promptCacheKey: "mine" }))).toBeUndefined();
    const sent = outgoing([person("Go.")], { model: openai(), settings: { promptCacheKey: "mine" } });
    expect(await hinted(sent)).toBe(sent);
  });

  test("outside a thread carry none", async () => {
    const sent = outgoing([person("Go.")], { model: openai() });
    expect(await withCacheHints(sent, SETTINGS, config())).toBe(sent);
  });
});

test("a model that is not known gets nothing", async () => {
  const sent = outgoing([system, person("Go.")], {
    model: scriptedModel([], { name: "ChatAnthropic" }) as unknown as ChatModel,
  });
  expect(await hinted(sent)).toBe(sent);
});
