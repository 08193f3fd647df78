/** Messages without a role: LangChain's own clients, a server of this machine that refuses what providers refuse. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { type CheckpointTuple, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { afterAll, describe, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from "../../context/fixtures/provider-server-for-tests.ts";
import { APIS, MODELS } from "../../context/fixtures/provider-server-models-for-tests.ts";

const servers: ProviderServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

const onThread = { configurable: { thread_id: "t" } };
const says = (text: string) => ({ messages: [new HumanMessage(text)] });

/** Gives these answers, then sound ones. */
async function serverWith(...answers: ProviderAnswer[]) {
  const server = await providerServer({ answer: () => answers.shift() ?? { text: "Here." } });
  servers.push(server);
  return server;
}

/** Written behind the back of the agent: as a version that stored such messages left the thread. */
async function store(saver: MemorySaver, ...messages: BaseMessage[]): Promise<void> {
  const tuple = (await saver.getTuple(onThread)) as CheckpointTuple;
  const known = tuple.checkpoint.channel_values.messages as BaseMessage[];
  const channel_values = { ...tuple.checkpoint.channel_values, messages: [...known, ...messages] };
  await saver.put(
    { configurable: { ...onThread.configurable, checkpoint_ns: "" } },
    { ...tuple.checkpoint, channel_values },
    tuple.metadata as never,
  );
}

const raw = (id: string, args: string) => ({
  index: 0,
  id,
  type: "function",
  function: { name: "ls", arguments: args },
});

const STORED: Record<
  string,
  { readonly message: BaseMessage; readonly text: string; readonly calls: number }
> = {
  "no role, nothing in it": {
    message: new ChatMessageChunk({ id: "old", content: "", role: undefined as never }),
    text: "",
    calls: 0,
  },
  "no role, words": {
    message: new ChatMessageChunk({ id: "old", content: "Well.", role: undefined as never }),
    text: "Well.",
    calls: 0,
  },
  "an empty role, a call": {
    message: new ChatMessageChunk({
      id: "old",
      content: "",
      role: "",
      additional_kwargs: { tool_calls: [raw("call_old", '{"path":"/"}')] as never },
    }),
    text: "",
    calls: 1,
  },
  "no role, half of a call": {
    message: new ChatMessageChunk({
      id: "old",
      content: "Well.",
      role: null as never,
      additional_kwargs: { tool_calls: [raw("call_old", '{"pa')] as never },
    }),
    text: "Well.",
    calls: 0,
  },
  "a role nobody has": {
    message: new ChatMessageChunk({ id: "old", content: "Well.", role: "oracle" }),
    text: "Well.",
    calls: 0,
  },
  "the client's word for no role": {
    message: new ChatMessage({ id: "old", content: "Well.", role: "unknown" }),
    text: "Well.",
    calls: 0,
  },
};

describe.each(APIS)("a stored message without a role, %s", (api) => {
  test.each(Object.entries(STORED))("%s: read as the assistant's, the thread goes on", async (_, stored) => {
    const server = await serverWith();
    const checkpointer = new MemorySaver();
    const agent = createDeepAgent({ model: MODELS[api](server.url) as never, checkpointer });
    await agent.invoke(says("One."), onThread);
    await store(checkpointer, new HumanMessage({ id: "two", content: "Two." }), stored.message);

    const before = (await agent.getState(onThread)).values.messages as BaseMessage[];
    const read = before.at(-1) as AIMessage;
    expect([AIMessage.isInstance(read), read.id, read.text]).toEqual([true, "old", stored.text]);
    expect(read.tool_calls).toHaveLength(stored.calls);

    const { messages } = await agent.invoke(says("And now?"), onThread);
    expect(messages.at(-1)?.text).toBe("Here.");
    expect(messages.some((message) => message.getType() === "generic")).toBe(false);
    expect(messages.filter((message) => ToolMessage.isInstance(message))).toHaveLength(stored.calls);
    await agent.invoke(says("And then?"), onThread);
    expect(server.refusals).toEqual([]);
  });
});

test("a role that a caller chose is left to the caller", async () => {
  const agent = createDeepAgent({
    model: MODELS.chat("http://127.0.0.1:1") as never,
    checkpointer: new MemorySaver(),
  });
  await agent.updateState(onThread, {
    messages: [new ChatMessage({ content: "thinking", role: "control" })],
  });
  const [message] = (await agent.getState(onThread)).values.messages as BaseMessage[];
  expect(message).toMatchObject({ type: "generic", role: "control" });
});

test("a middleware may add a message without a role to a request", async () => {
  const server = await serverWith();
  const model = MODELS.chat(server.url) as never;
  const adds = createMiddleware({
    name: "adds",
    wrapModelCall: (request, handler) =>
      handler({
        ...request,
        messages: [
          ...request.messages,
          new ChatMessage({ content: "Well.", role: "" }),
          new HumanMessage("Go on."),
        ],
      }),
  });
  const { messages } = await createDeepAgent({ model, middleware: [adds] }).invoke(says("Go."));
  expect(messages.at(-1)?.text).toBe("Here.");
  expect(server.refusals).toEqual([]);
});

test("a whole reply without a role: its call is kept and run", async () => {
  const server = await serverWith({
    calls: [{ name: "ls", args: { path: "/" } }],
    raw: ([body = ""]) => body.replace('"role":"assistant",', ""),
  });
  const agent = createDeepAgent({ model: MODELS.chat(server.url) as never });
  const { messages } = await agent.invoke(says("Go."));
  expect(messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "ai"]);
  expect((messages[1] as AIMessage).tool_calls).toMatchObject([{ name: "ls", args: { path: "/" } }]);
  expect(server.refusals).toEqual([]);
});

/** A client nobody knows, which calls its replies what it likes. */
class OddClient extends BaseChatModel {
  asked = 0;
  readonly replies: readonly BaseMessage[];
  constructor(replies: readonly BaseMessage[]) {
    super({});
    this.replies = replies;
  }
  _llmType(): string {
    return "odd";
  }
  override bindTools(): this {
    return this;
  }
  async _generate(): Promise<never> {
    throw new Error("it only streams");
  }
  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    const message = this.replies[this.asked] as never;
    this.asked += 1;
    yield new ChatGenerationChunk({ message, text: "" });
  }
}

test.each([
  [
    "a generic message",
    new ChatMessageChunk({
      content: "",
      role: undefined as never,
      additional_kwargs: { tool_calls: [raw("call_1", '{"path":"/"}')] as never },
    }),
    new ChatMessageChunk({ content: "Done.", role: undefined as never }),
  ],
  [
    "a message of a person",
    new HumanMessageChunk({
      content: "",
      additional_kwargs: { tool_calls: [raw("call_1", '{"path":"/"}')] as never },
    }),
    new HumanMessageChunk({ content: "Done." }),
  ],
])(
  "a client that makes %s of a reply: what is stored is the assistant's, and its call runs",
  async (_, call, end) => {
    const model = new OddClient([call, end]) as never;
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
    for await (const _ of await agent.stream(says("Go."), { ...onThread, streamMode: "messages" }));
    const { messages } = (await agent.getState(onThread)).values as any;
    expect(messages.map((message: BaseMessage) => message.getType())).toEqual(["human", "ai", "tool", "ai"]);
    expect(messages.at(-1).text).toBe("Done.");
  },
);
