import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import type { ChatModel } from "../loop/providers/model-source.ts";
import { requestProvider } from "../loop/request/request-provider.ts";
import { say, scriptedModel } from "../testing/index.ts";
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from "./fixtures/provider-server-for-tests.ts";
import { APIS, MODELS } from "./fixtures/provider-server-models-for-tests.ts";
import type { Api } from "./fixtures/provider-server-read-for-tests.ts";
import { SECRETS, type ThinkingServer, thinkingServer } from "./fixtures/provider-thoughts-for-tests.ts";

let server: ProviderServer;
let front: ThinkingServer;
afterEach(async () => {
  await front.close();
  await server.close();
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

async function open(): Promise<void> {
  server = await providerServer({ answer: ({ turn }) => STEPS[turn % 3] ?? {} });
  front = await thinkingServer(server.url);
}

type Way = "whole" | "streamed" | "events";
const WAYS: readonly Way[] = ["whole", "streamed"];

/** A thread that any model may go on with. */
class Thread {
  private readonly checkpointer = new MemorySaver();
  private readonly config = { configurable: { thread_id: "one" } };
  constructor(private readonly way: Way) {}

  async run(model: ChatModel): Promise<BaseMessage[]> {
    const agent = createDeepAgent({ model, checkpointer: this.checkpointer });
    const input = { messages: [new HumanMessage("Go.")] };
    if (this.way === "whole") await agent.invoke(input, this.config);
    else if (this.way === "streamed")
      for await (const _ of await agent.stream(input, { ...this.config, streamMode: "messages" }));
    else await (await agent.streamEvents(input, { ...this.config, version: "v3" })).output;
    return (await agent.getState(this.config)).values.messages;
  }
}

const bodies = (): string[] => server.requests.map(({ body }) => JSON.stringify(body));
/** OpenAI's older API takes nothing back of what was thought. */
const takesThoughts = (api: Api): boolean => api !== "chat";

const PAIRS = APIS.flatMap((from) => APIS.map((to) => ({ from, to })));
const SWITCHES = PAIRS.filter(({ from, to }) => from !== to);

describe("a thread goes to another provider and back", () => {
  test.each(SWITCHES.flatMap((pair) => WAYS.map((way) => ({ ...pair, way }))))(
    "$from, $to, $from, $way",
    async ({ from, to, way }) => {
      await open();
      const thread = new Thread(way);
      const [own, other] = [MODELS[from](front.url), MODELS[to](front.url)];
      await thread.run(own);
      await thread.run(other);
      const messages = await thread.run(own);
      expect(server.refusals).toEqual([]);
      expect(server.requests.map(({ api }) => api)).toEqual([from, from, from, to, to, to, from, from, from]);
      expect(messages.filter(ToolMessage.isInstance)).toHaveLength(9);
      expect(messages.filter(AIMessage.isInstance).map(({ text }) => text)).toEqual(
        [...STEPS, ...STEPS, ...STEPS].map(({ text = "" }) => text),
      );
      const sent = bodies();
      // What one provider thought goes to that provider, as it came, and to no other.
      for (const body of sent.slice(3, 6)) expect(body).not.toMatch(SECRETS[from]);
      for (const body of sent.slice(6)) expect(body).not.toMatch(SECRETS[to]);
      if (takesThoughts(to)) for (const body of sent.slice(4, 6)) expect(body).toMatch(SECRETS[to]);
      if (takesThoughts(from)) for (const body of sent.slice(6)) expect(body).toMatch(SECRETS[from]);
      // The words and calls of the other are not lost: each stands there once.
      expect(wordsIn(5).split("I write and look.")).toHaveLength(3);
      expect(wordsIn(8).split("I write and look.")).toHaveLength(4);
      const calls = ["write_file", "ls", "read_file"];
      expect(callsIn(5)).toEqual([...calls, ...calls]);
      expect(callsIn(8)).toEqual([...calls, ...calls, ...calls]);
    },
  );
});

/** LangChain's standard form does not always name its maker, and of Gemini's parallel calls it keeps one. */
describe("a thread whose replies were streamed as events", () => {
  test.each(PAIRS)("$from, $to, $from", async ({ from, to }) => {
    await open();
    const thread = new Thread("events");
    for (const api of [from, to, from]) await thread.run(MODELS[api](front.url));
    expect(server.refusals).toEqual([]);
    expect(server.requests.map(({ api }) => api)).toEqual([from, from, from, to, to, to, from, from, from]);
    expect(wordsIn(8).split("I write and look.")).toHaveLength(4);
    const sent = bodies();
    if (from !== to) for (const body of sent.slice(3, 6)) expect(body).not.toMatch(SECRETS[from]);
    if (from !== to) for (const body of sent.slice(6)) expect(body).not.toMatch(SECRETS[to]);
  });
});

/** Words of the model, in the pieces they arrived in. */
function wordsIn(request: number): string {
  const turns = server.requests[request]?.turns.filter(({ role }) => role === "assistant") ?? [];
  const blocks = turns.flatMap((turn) => turn.blocks).filter(({ kind }) => kind === "text");
  return blocks.map(({ raw }) => raw.text).join("");
}

function callsIn(request: number): (string | undefined)[] {
  const blocks = server.requests[request]?.turns.flatMap((turn) => turn.blocks) ?? [];
  return blocks.filter(({ kind }) => kind === "call").map(({ name }) => name);
}

describe.each(APIS.flatMap((api) => WAYS.map((way) => ({ api, way }))))(
  "a thread begun on $api, $way",
  ({ api, way }) => {
    test("is sent to the same provider as it is", async () => {
      await open();
      const model = MODELS[api](front.url);
      const messages = await new Thread(way).run(model);
      expect(requestProvider(messages, model)).toBe(messages);
    });

    test("goes to a model of words alone as words and calls, the same each time", async () => {
      await open();
      const thread = new Thread(way);
      await thread.run(MODELS[api](front.url));
      const model = scriptedModel([say("Here."), say("And here.")]);
      await thread.run(model);
      await thread.run(model);
      const [first = [], second = []] = model.calls.map(({ messages }) => messages);
      expect(second.slice(0, first.length).map((message) => message.toDict())).toEqual(
        first.map((message) => message.toDict()),
      );
      const replies = first.filter(AIMessage.isInstance);
      expect(replies.map(({ content }) => content)).toEqual(["I write and look.", "", "Done."]);
      expect(replies.map(({ tool_calls }) => tool_calls?.length)).toEqual([2, 1, 0]);
      expect(JSON.stringify(first)).not.toMatch(SECRETS[api]);
    });
  },
);
