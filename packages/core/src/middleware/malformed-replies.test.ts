/** Replies that cannot be read: LangChain's own clients, a server of this machine that sends them. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { afterAll, describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { createDeepAgent } from "../agent.ts";
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from "../context/fixtures/provider-server-for-tests.ts";
import { APIS, EAGER_MODELS } from "../context/fixtures/provider-server-models-for-tests.ts";
import type { Api } from "../context/fixtures/provider-server-read-for-tests.ts";
import type { ModelError } from "../loop/failures/model-error.ts";
import type { ModelRetry } from "../loop/model/model-retry.ts";
import { MALFORMED, MALFORMED_WHOLE, type Malformed } from "./malformed-replies-for-tests.ts";
import { createModelRetryMiddleware } from "./model-retry.ts";

const servers: ProviderServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

const onThread = { configurable: { thread_id: "t" } };
const says = (text: string) => ({ messages: [new HumanMessage(text)] });

/** The server gives `answer` so many times, then sound ones. */
async function agentAt(api: Api, answer: ProviderAnswer, times: number) {
  let asked = 0;
  const server = await providerServer({
    answer: () => {
      asked += 1;
      return asked <= times ? answer : { text: "Here." };
    },
  });
  servers.push(server);
  const retries: ModelRetry[] = [];
  const agent = createDeepAgent({
    model: EAGER_MODELS[api](server.url) as never,
    checkpointer: new MemorySaver(),
    middleware: [
      createModelRetryMiddleware({
        firstWait: 0.001,
        maxAttempts: 2,
        onRetry: (retry) => retries.push(retry),
      }),
    ],
  });
  return { agent, server, retries };
}

type Agent = Awaited<ReturnType<typeof agentAt>>["agent"];

const WAYS = {
  whole: (agent: Agent) => agent.invoke(says("Go."), onThread),
  streamed: async (agent: Agent) => {
    for await (const _ of await agent.stream(says("Go."), { ...onThread, streamMode: "messages" }));
  },
  "as events": async (agent: Agent) => {
    await (await agent.streamEvents(says("Go."), { ...onThread, version: "v3" })).output;
  },
};

async function messagesOf(agent: Agent): Promise<any[]> {
  return (await agent.getState(onThread)).values.messages;
}

/** The thread takes a further message, and the provider every request of it. */
async function continuesThread(agent: Agent, server: ProviderServer) {
  const { messages } = await agent.invoke(says("And now?"), onThread);
  expect(messages.at(-1)?.text).toBe("Here.");
  expect(server.refusals).toEqual([]);
}

async function isAskedAgain(api: Api, way: keyof typeof WAYS, answer: ProviderAnswer) {
  const once = await agentAt(api, answer, 1);
  await WAYS[way](once.agent);
  expect((await messagesOf(once.agent)).map(({ text }) => text)).toEqual(["Go.", "Here."]);
  expect(once.retries.map(({ failure }) => failure.kind)).toEqual([expect.stringMatching(/^(cut|server)$/)]);

  const always = await agentAt(api, answer, 2);
  const error = await WAYS[way](always.agent).then(
    () => expect.fail("it was read"),
    (thrown: ModelError) => thrown,
  );
  expect(error).toMatchObject({ name: "ModelError", attempts: 2 });
  expect(error.code).toMatch(/^MODEL_(CUT_OFF|UNAVAILABLE)$/);
  expect(error.message.length).toBeLessThan(1_000);
  expect((await messagesOf(always.agent)).map(({ text }) => text)).toEqual(["Go."]);
  await continuesThread(always.agent, always.server);
}

async function isRead(api: Api, way: keyof typeof WAYS, { answer, end }: Malformed) {
  const { agent, server, retries } = await agentAt(api, answer, 1);
  await WAYS[way](agent);
  const [, reply, result] = await messagesOf(agent);
  expect(AIMessage.isInstance(reply)).toBe(true);
  expect(retries).toEqual([]);
  if (end === "called") expect([reply.tool_calls.length, ToolMessage.isInstance(result)]).toEqual([1, true]);
  await continuesThread(agent, server);
}

/** Ways that share a reader share its replies in the short form; the long form plays all in all of them. */
const half = (rows: readonly Malformed[], turn: number) =>
  rows.filter((_, at) => at % sized(2, 1) === turn % sized(2, 1));

const MATRIX = APIS.flatMap((api, place) => [
  ...(api === "anthropic" || api === "gemini"
    ? [
        { api, way: "streamed" as const, rows: half(MALFORMED[api], 0) },
        { api, way: "as events" as const, rows: half(MALFORMED[api], 1) },
      ]
    : [{ api, way: "streamed" as const, rows: MALFORMED[api] }]),
  { api, way: "whole" as const, rows: half(MALFORMED_WHOLE, place) },
]);

describe.each(MATRIX)("$api, $way", ({ api, way, rows }) => {
  const broken = rows.filter(({ end }) => end === "again");
  test.each(broken)("$what: asked for again, a typed error in the end, the thread goes on", ({ answer }) =>
    isAskedAgain(api, way, answer),
  );

  const odd = rows.filter(({ end }) => end !== "again");
  if (odd.length > 0)
    test.each(odd)("$what: the reply counts, and the thread goes on", (row) => isRead(api, way, row));
});

test("a call keeps its arguments where the server leaves the role out", async () => {
  const noRole = MALFORMED.chat.find(({ what }) => what === "no role, a call") as Malformed;
  const { agent } = await agentAt("chat", noRole.answer, 1);
  await WAYS.streamed(agent);
  const [, reply] = await messagesOf(agent);
  expect(reply.tool_calls).toMatchObject([{ name: "ls", args: { path: "/" } }]);
});

test("without retries of ours a reply that cannot be read is asked for again, too", async () => {
  const broken = MALFORMED.anthropic.find(({ what }) => what === "an event of words") as Malformed;
  let asked = 0;
  const server = await providerServer({
    answer: () => {
      asked += 1;
      return asked === 1 ? broken.answer : { text: "Here." };
    },
  });
  servers.push(server);
  const model = EAGER_MODELS.anthropic(server.url) as never;
  const agent = createDeepAgent({
    ...{ model, checkpointer: new MemorySaver() },
    middleware: [{ ModelRetryMiddleware: false }],
  });
  await WAYS.streamed(agent as never);
  expect((await messagesOf(agent as never)).at(-1)?.text).toBe("Here.");
});
