/** Parallel calls in one streamed reply, with LangChain's own clients against a server of this machine. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ToolMessage } from "@langchain/core/messages";
import { ChatOllama } from "@langchain/ollama";
import { afterAll, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { providerServer } from "../../context/fixtures/provider-server-for-tests.ts";
import { APIS, MODELS } from "../../context/fixtures/provider-server-models-for-tests.ts";
import { anyTool, ask } from "../fixtures/agents.ts";
import type { ChatModel } from "../providers/model-source.ts";

const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

const CALLS = [
  { name: "weather", args: { city: "Oslo" } },
  { name: "weather", args: { city: "Lima" } },
  { name: "clock", args: { zone: "UTC" } },
];

async function resultsWith(model: ChatModel): Promise<string[]> {
  const seen = (name: string) => anyTool(name, (args) => `${name} ${JSON.stringify(args)}`);
  const agent = createDeepAgent({ model, tools: [seen("weather"), seen("clock")] } as never);
  const results: string[] = [];
  for await (const [message] of await agent.stream(ask(), { streamMode: "messages" }))
    if (ToolMessage.isInstance(message)) results.push(message.text);
  return results;
}

const EXPECTED = ['weather {"city":"Oslo"}', 'weather {"city":"Lima"}', 'clock {"zone":"UTC"}'];

test.each(APIS)("%s: each call of a streamed reply keeps its own arguments", async (api) => {
  const answers = [{ calls: CALLS }];
  const server = await providerServer({ answer: () => answers.shift() ?? { text: "Done." } });
  closers.push(() => server.close());
  expect(await resultsWith(MODELS[api](server.url))).toEqual(EXPECTED);
});

test("Ollama sends every call under index 0: each keeps its own arguments", async () => {
  const url = await ollamaServer();
  const model = new ChatOllama({ baseUrl: url, model: "qwen3", maxRetries: 0 });
  expect(await resultsWith(model as unknown as ChatModel)).toEqual(EXPECTED);
});

/** Answers with the calls in two lines of the stream, then with words. */
async function ollamaServer(): Promise<string> {
  let turn = 0;
  const line = (message: object, done = false): string =>
    `${JSON.stringify({ model: "qwen3", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", content: "", ...message }, done, ...(done ? { done_reason: "stop" } : {}) })}\n`;
  const calls = CALLS.map(({ name, args }) => ({ function: { name, arguments: args } }));
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      turn += 1;
      response.setHeader("content-type", "application/x-ndjson");
      if (turn > 1) return response.end(line({ content: "Done." }) + line({}, true));
      response.write(line({ tool_calls: calls.slice(0, 2) }));
      response.end(line({ tool_calls: calls.slice(2) }) + line({}, true));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
