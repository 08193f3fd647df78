import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { afterEach, describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import type { ChatModel } from "../loop/providers/model-source.ts";
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from "./fixtures/provider-server-for-tests.ts";
import { APIS, MODELS } from "./fixtures/provider-server-models-for-tests.ts";
import type { Api } from "./fixtures/provider-server-read-for-tests.ts";

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const STEPS: readonly ProviderAnswer[] = [
  {
    text: "I write and look.",
    calls: [
      { name: "write_file", args: { file_path: "/a.txt", content: "alpha" } },
      { name: "ls", args: { path: "/" } },
    ],
  },
  { calls: [{ name: "read_file", args: { file_path: "/missing.txt" } }] },
  { text: "Done." },
];

async function messagesOf(model: ChatModel, streaming: boolean): Promise<BaseMessage[]> {
  const agent = createDeepAgent({ model });
  const input = { messages: [new HumanMessage("Go.")] };
  if (!streaming) return (await agent.invoke(input)).messages;
  let messages: BaseMessage[] = [];
  for await (const [mode, chunk] of await agent.stream(input, { streamMode: ["messages", "values"] }))
    if (mode === "values") ({ messages } = chunk as { messages: BaseMessage[] });
  return messages;
}

describe("a real client, a server that judges as the provider does", () => {
  test.each(APIS.flatMap((api) => [false, true].map((streaming) => ({ api, streaming }))))(
    "$api, streaming $streaming: calls, failures and words go back and forth",
    async ({ api, streaming }) => {
      server = await providerServer({ answer: ({ turn }) => STEPS[turn] ?? { text: "More." } });
      const messages = await messagesOf(MODELS[api](server.url), streaming);
      expect(server.refusals).toEqual([]);
      expect(messages.at(-1)?.text).toBe("Done.");
      expect(messages.filter(ToolMessage.isInstance).map(({ status }) => status)).toEqual([
        "success",
        "success",
        "error",
      ]);
      expect(server.requests.map(({ status, stream }) => [status, stream])).toEqual(
        Array.from({ length: 3 }, () => [200, streaming]),
      );
      const usage = messages.filter(AIMessage.isInstance).map((message) => message.usage_metadata);
      expect(usage.map((one) => one?.input_tokens)).toEqual(
        server.requests.map(({ counted }) => counted.total),
      );
      // LangChain's client for Gemini adds up what each streamed piece says of the cache.
      if (api === "gemini" && streaming) return;
      expect(usage.map((one) => one?.input_token_details?.cache_read ?? 0)).toEqual(
        server.requests.map(({ counted }) => counted.read),
      );
    },
  );
});

const call = (id = "toolu_1") =>
  new AIMessage({ content: "", tool_calls: [{ id, name: "ls", args: { path: "/" } }] });
const result = (id = "toolu_1", content: unknown = "nothing") =>
  new ToolMessage({ tool_call_id: id, name: "ls", content: content as string });
const person = (content: unknown = "Go.") => new HumanMessage({ content: content as string });

interface Bad {
  readonly what: string;
  readonly messages: readonly BaseMessage[];
  /** Answer of the provider; absent: it accepts the request. */
  readonly says: Partial<Record<Api, RegExp>>;
}

const BAD: readonly Bad[] = [
  {
    what: "a call without a result",
    messages: [person(), call(), person("And?")],
    says: {
      anthropic: /`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1/,
      chat: /did not have response messages: toolu_1/,
      responses: /No tool output found for function call toolu_1/,
      gemini: /number of function response parts is equal/,
    },
  },
  {
    what: "a result without a call",
    messages: [person(), result()],
    says: {
      anthropic: /unexpected `tool_use_id` found in `tool_result` blocks: toolu_1/,
      chat: /must be a response to a preceeding message with 'tool_calls'/,
      responses: /No tool call found for function call output with call_id toolu_1/,
      gemini: /function response turn comes immediately after a function call turn/,
    },
  },
  {
    what: "words between a call and its result",
    messages: [person(), call(), person("Well?"), result()],
    says: {
      anthropic: /ids were found without `tool_result` blocks immediately after/,
      chat: /did not have response messages/,
      gemini: /number of function response parts/,
    },
  },
  {
    what: "the model speaking first",
    messages: [new AIMessage("Hello"), person()],
    says: { anthropic: /first message must use the .*user.* role/, gemini: /begin with a user turn/ },
  },
  {
    what: "an empty message",
    messages: [person([])],
    says: {
      anthropic: /must have non-empty content/,
      chat: /must have non-empty content/,
      responses: /is too short/,
      gemini: /parts must not be empty/,
    },
  },
  {
    what: "an empty text",
    messages: [person("")],
    says: { anthropic: /text content blocks must be non-empty/, gemini: /parts must not be empty/ },
  },
  {
    what: "a picture in a result",
    messages: [
      person(),
      call(),
      result("toolu_1", [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]),
    ],
    says: { chat: /image_url is only allowed for messages with role 'user'/ },
  },
];

describe("the server refuses what the provider refuses", () => {
  test.each(BAD.flatMap((bad) => APIS.map((api) => ({ ...bad, api }))))(
    "$api: $what",
    async ({ api, messages, says }) => {
      server = await providerServer({ answer: () => ({ text: "Fine." }) });
      const asked = MODELS[api](server.url).invoke([...messages]);
      const expected = says[api];
      if (expected === undefined) expect((await asked).text).toBe("Fine.");
      else {
        await expect(asked).rejects.toThrow(expected);
        expect(server.refusals).toEqual([expect.stringMatching(expected)]);
        expect(server.requests.map(({ status }) => status)).toEqual([400]);
      }
    },
  );

  test.each([
    { api: "anthropic", says: /prompt is too long: \d+ tokens > 500 maximum/ },
    { api: "chat", says: /maximum context length is 500 tokens/ },
    { api: "responses", says: /exceeds the context window/ },
    { api: "gemini", says: /input token count \(\d+\) exceeds the maximum number of tokens allowed \(500\)/ },
  ] as const)("$api: a request over its window", async ({ api, says }) => {
    server = await providerServer({ answer: () => ({ text: "Fine." }), window: 500 });
    const model = MODELS[api](server.url);
    await expect(model.invoke([person("word ".repeat(600))])).rejects.toThrow(says);
    expect((await model.invoke([person("word ".repeat(300))])).text).toBe("Fine.");
    expect(server).toMatchObject({ overflows: 1, refusals: [] });
  });

  test("anthropic: five cache markers, a long one behind a short one, one inside a result", async () => {
    server = await providerServer({ answer: () => ({ text: "Fine." }) });
    const model = MODELS.anthropic(server.url);
    const marked = (ttl: string) => ({ type: "text", text: "x", cache_control: { type: "ephemeral", ttl } });
    const five = person(Array.from({ length: 5 }, () => marked("5m")));
    await expect(model.invoke([five])).rejects.toThrow(/maximum of 4 blocks with cache_control/);
    await expect(model.invoke([person([marked("5m"), marked("1h")])])).rejects.toThrow(/must not come after/);
    const inside = [person(), call(), result("toolu_1", [marked("5m")])];
    await expect(model.invoke(inside)).rejects.toThrow(/not permitted in the content of a tool_result/);
  });
});
