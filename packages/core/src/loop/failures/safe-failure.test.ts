/** Keys and headers that were configured and are in no variable: errors of who got them do not show them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { expect, onTestFinished, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

/** Refuses everyone with the headers they sent. */
async function refusing(): Promise<string> {
  const server = createServer((request, response) => {
    const { authorization, "x-team": team } = request.headers;
    response.writeHead(422, { "content-type": "application/json" });
    const message = `no: ${authorization} ${team}`;
    response.end(JSON.stringify({ detail: message, error: { message } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the key and the default headers of a model's client, with retries and without", async () => {
  for (const middleware of [[], [{ ModelRetryMiddleware: false }]]) {
    const configuration = { baseURL: await refusing(), defaultHeaders: { "x-team": "team-value-of-4711" } };
    const model = new ChatOpenAI({ model: "gpt", apiKey: "given-key-of-4711", configuration, maxRetries: 0 });
    const checkpointer = new MemorySaver();
    const agent = createDeepAgent({ model: model as never, checkpointer, middleware } as never);
    const thread = { configurable: { thread_id: "t" } };
    const error = await agent.invoke({ messages: "Go." }, thread).catch((thrown: Error) => thrown);
    expect(String(error)).toContain("[x-team]");
    const tuple = await checkpointer.getTuple(thread);
    expect(`${error}${(error as Error).stack}${JSON.stringify(tuple)}`).not.toContain("of-4711");
  }
});

test("the headers for the server of a background subagent", async () => {
  const subagent = {
    ...{
      name: "far",
      description: "Works far away.",
      graphId: "g",
      url: await refusing(),
      allowPrivate: true,
    },
    headers: { authorization: "Bearer given-header-of-4711", "x-team": "team-value-of-4711" },
  };
  const order = { description: "Work.", subagent_type: "far" };
  const model = scriptedModel([callTool("start_async_task", order), say("done")]);
  const agent = createDeepAgent({ model, subagents: [subagent] as never, checkpointer: new MemorySaver() });
  const { messages } = await agent.invoke({ messages: "Go." }, { configurable: { thread_id: "t" } });
  const [result] = messages.filter(ToolMessage.isInstance);
  expect(result?.text).toContain("no: [authorization] [x-team]");
  expect(JSON.stringify(messages)).not.toContain("of-4711");
});
