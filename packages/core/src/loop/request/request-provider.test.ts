import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, test } from "vitest";
import { MARKS } from "../messages/messages.ts";
import type { ChatModel } from "../providers/model-source.ts";
import { requestProvider } from "./request-provider.ts";

const asModel = (model: unknown): ChatModel => model as ChatModel;
const called = (name: string): ChatModel => asModel({ getName: () => name });
const anthropic = asModel(new ChatAnthropic({ apiKey: "k", model: "claude-sonnet-4-5" }));
const gemini = asModel(new ChatGoogleGenerativeAI({ apiKey: "k", model: "gemini-2.5-pro" }));
const openai = (useResponsesApi: boolean): ChatModel =>
  asModel(new ChatOpenAI({ apiKey: "k", model: "gpt-4.1", useResponsesApi }));
const chat = openai(false);
const responses = openai(true);
const unknown = called("ChatSomething");

const LS = { name: "ls", args: { path: "/" }, id: "c1", type: "tool_call" as const };
const human = (): HumanMessage => new HumanMessage({ id: "h", content: "Go." });
const result = (): ToolMessage => new ToolMessage({ id: "r", tool_call_id: "c1", name: "ls", content: "/" });
const reply = (content: unknown, fields: object = {}): AIMessage =>
  new AIMessage({ content: content as string, ...fields });

const made = (provider: string, content: unknown = "Well.", fields: object = {}): AIMessage =>
  reply(content, { response_metadata: { model_provider: provider }, ...fields });

const THOUGHT = [
  { type: "reasoning", reasoning: "Hm." },
  { type: "text", text: "Well." },
];
const standard = (provider: string, metadata: object = {}): AIMessage =>
  reply(THOUGHT, { response_metadata: { model_provider: provider, output_version: "v1", ...metadata } });

const TOOL_USE = { type: "tool_use", id: "c1", name: "ls", input: { path: "/" } };

const sent = (message: AIMessage, model: ChatModel, options = {}): readonly BaseMessage[] =>
  requestProvider([human(), message, ...(message.tool_calls?.length ? [result()] : [])], model, options);
const isSentAsIs = (message: AIMessage, model: ChatModel, options = {}): boolean =>
  sent(message, model, options)[1] === message;
const form = (message: AIMessage, model: ChatModel = unknown): unknown => {
  const { content, tool_calls, additional_kwargs, response_metadata, id, name } = sent(
    message,
    model,
  )[1] as AIMessage;
  return { content, tool_calls, additional_kwargs, response_metadata, id, name };
};

const MODELS = { anthropic, chat, responses, gemini, unknown };
type Name = keyof typeof MODELS;

describe("who reads what", () => {
  test.each<[string, AIMessage, Name[]]>([
    ["plain words", reply("Well."), ["anthropic", "chat", "responses", "gemini", "unknown"]],
    [
      "plain blocks",
      reply([{ type: "text", text: "Well." }]),
      ["anthropic", "chat", "responses", "gemini", "unknown"],
    ],
    ["what Claude made", made("anthropic"), ["anthropic"]],
    ["what OpenAI's older API made", made("openai"), ["chat", "responses"]],
    ["what OpenAI's newer API made", made("openai", [], { id: "resp_1", tool_calls: [LS] }), ["responses"]],
    ["what Gemini made", made("google-genai"), ["gemini"]],
    ["what Gemini made elsewhere", made("google-vertexai"), []],
    ["what a provider nobody knows made", made("something"), ["unknown"]],
    ["a call of Claude's that does not say so", reply([TOOL_USE], { tool_calls: [LS] }), ["anthropic"]],
    [
      "a thought of Gemini's that does not say so",
      reply(
        [
          { type: "thinking", thinking: "Hm.", signature: "s" },
          { type: "text", text: "Well." },
        ],
        {
          additional_kwargs: { __gemini_function_call_thought_signatures__: {} },
        },
      ),
      ["gemini"],
    ],
    [
      "a thought of OpenAI's that does not say so",
      reply("Well.", { additional_kwargs: { reasoning: { id: "rs_1", type: "reasoning", summary: [] } } }),
      ["responses"],
    ],
    [
      "standard blocks of nobody",
      reply([{ type: "text", text: "Well." }, LS], { tool_calls: [LS] }),
      ["anthropic", "chat", "responses", "unknown"],
    ],
    ["a standard thought of nobody", reply(THOUGHT), ["anthropic", "chat", "unknown"]],
    ["a standard thought of OpenAI's older API", standard("openai"), ["chat"]],
    ["a standard thought of OpenAI's newer API", standard("openai", { id: "resp_1" }), []],
    ["a standard thought of Gemini's", standard("google-genai"), []],
  ])("%s", (_, message, readers) => {
    const names = Object.keys(MODELS) as Name[];
    expect(names.filter((name) => isSentAsIs(message, MODELS[name]))).toEqual(readers);
  });

  test("a model bound to options, or made from a known one, is known", () => {
    class Own extends ChatAnthropic {
      static override lc_name(): string {
        return "Own";
      }
    }
    const own = asModel(new Own({ apiKey: "k", model: "claude-sonnet-4-5" }));
    expect(isSentAsIs(made("anthropic"), own)).toBe(true);
    expect(isSentAsIs(made("anthropic"), asModel({ bound: anthropic, getName: () => "Bound" }))).toBe(true);
    expect(isSentAsIs(made("ollama"), called("ChatOllama"))).toBe(true);
  });

  test("OpenAI's client speaks the newer API where an option of the call asks for it", () => {
    const message = made("openai", [], { id: "resp_1", tool_calls: [LS] });
    const options = { tools: [{ type: "web_search" }] };
    expect(isSentAsIs(message, chat, { tools: [{ type: "function", function: { name: "ls" } }] })).toBe(
      false,
    );
    expect(isSentAsIs(message, chat, options)).toBe(true);
    expect(isSentAsIs(message, asModel({ bound: chat, kwargs: options, getName: () => "Bound" }))).toBe(true);
  });
});

describe("the form everyone reads", () => {
  test("has the words and the calls, and what a stage remembers", () => {
    const message = made(
      "anthropic",
      [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "text", text: "I " },
        { type: "text", text: "look.", citations: [] },
        { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
        { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
        { type: "text", text: "Found." },
        TOOL_USE,
      ],
      {
        id: "msg_1",
        name: "model",
        tool_calls: [{ ...LS, isCustomTool: true, call_id: "ctc_1" }],
        additional_kwargs: { [MARKS]: { short: true }, stop_reason: "tool_use", tool_calls: [{}] },
      },
    );
    expect(form(message)).toEqual({
      content: "I look.\nFound.",
      tool_calls: [LS],
      additional_kwargs: { [MARKS]: { short: true } },
      response_metadata: {},
      id: undefined,
      name: undefined,
    });
  });

  test("keeps a name and an id that mean nothing to a provider", () => {
    expect(form(made("openai", "Well.", { id: "chatcmpl-1", name: "researcher" }))).toMatchObject({
      id: "chatcmpl-1",
      name: "researcher",
    });
  });

  test("says what media stood there", () => {
    const image = { type: "image", mimeType: "image/png", data: "AAAA" };
    expect(form(made("openai", [image], { id: "resp_1" }))).toMatchObject({
      content: "[image/png, 3 bytes: left out, this model cannot take it]",
    });
  });

  test("has no words that are only space beside a call", () => {
    expect(form(made("openai", "\n\n", { tool_calls: [LS] }), anthropic)).toMatchObject({ content: "" });
  });

  test("is none where nothing remains", () => {
    const search = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const messages = [human(), made("anthropic", [search]), human()];
    expect(requestProvider(messages, gemini)).toEqual([messages[0], messages[2]]);
    expect(requestProvider(messages, anthropic)).toBe(messages);
  });
});

describe("a message", () => {
  test("is sent as the same object each time, until it is edited", () => {
    const first = human();
    const message = made("anthropic", [{ type: "text", text: "Well." }]);
    const once = requestProvider([first, message], gemini);
    const again = requestProvider([first, message, human()], gemini);
    expect(again[1]).toBe(once[1]);
    expect(requestProvider([first, message], chat)[1]).toBe(once[1]);
    message.content = "Other.";
    expect(requestProvider([first, message], gemini)[1]?.content).toBe("Other.");
  });

  test("is looked into once: nothing of it is read in later requests", () => {
    const reads = (size: number): number => {
      let count = 0;
      const watch = (message: BaseMessage): BaseMessage =>
        new Proxy(message, {
          get(target, key) {
            count += 1;
            return Reflect.get(target, key, target);
          },
        });
      const old = Array.from({ length: size }, (_, i) => watch(i % 2 === 0 ? human() : made("anthropic")));
      expect(requestProvider(old, anthropic)).toBe(old);
      expect(count).toBeGreaterThan(size);
      count = 0;
      const longer = [...old, made("anthropic")];
      expect(requestProvider(longer, anthropic)).toBe(longer);
      requestProvider([human(), ...longer], anthropic);
      return count;
    };
    expect([reads(50), reads(5_000)]).toEqual([0, 0]);
  });

  test("is told apart when the thread goes to and fro", () => {
    const messages = [human(), made("anthropic"), human(), made("google-genai")];
    const changed = (model: ChatModel): number[] =>
      requestProvider(messages, model).flatMap((message, i) => (message === messages[i] ? [] : [i]));
    expect([changed(anthropic), changed(gemini), changed(chat), changed(anthropic)]).toEqual([
      [3],
      [1],
      [1, 3],
      [3],
    ]);
  });
});
