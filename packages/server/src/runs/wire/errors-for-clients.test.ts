/** An error with a stack, places of this machine and a secret: nothing of these reaches a client by any way. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createDeepAgent } from "deepwright";
import { holdSecrets, releaseSecrets } from "deepwright/secrets";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../../../../../scripts/test-time.ts";
import { startServer, type TestServer, TOKEN } from "../../server-for-tests.ts";

const SECRET = "held-secret-0123456789";
const MODES = [
  ...["values", "updates", "messages", "messages-tuple", "custom"],
  ...["events", "debug", "tasks", "checkpoints", "tools"],
];
const LEAK = new RegExp(`\\\\n\\s+at |/etc/app|/home/ada|${SECRET}|${process.cwd()}|node_modules`);

function boom(): Error {
  const error = new TypeError(`Cannot open '/etc/app/keys.json' with ${SECRET}`);
  // As errors of other programs come.
  error.message += `\n\nError: Cannot open\n    at open (/home/ada/app/open.js:1:2)`;
  return error;
}

/** A node that fails in a graph inside a graph. */
function failingGraph() {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("open", (): object => {
      throw boom();
    })
    .addEdge(START, "open")
    .addEdge("open", END)
    .compile();
  return new StateGraph(MessagesAnnotation)
    .addNode("inner", inner)
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile();
}

/** A tool that fails, and says so in the stream too. */
function failingTool() {
  const open = tool(
    (_, { writer }: { writer: ((data: unknown) => void) | null }) => {
      writer?.({ failure: boom() });
      throw boom();
    },
    { name: "open", description: "Opens.", schema: z.object({}) },
  );
  const script = [callTool("open", {}), say("It failed.")];
  return createDeepAgent({ model: scriptedModel(script), tools: [open as never] });
}

let server: TestServer;
const told: unknown[] = [];
const hooks: string[] = [];
const receiver = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  hooks.push(text);
  response.end();
});

beforeAll(async () => {
  holdSecrets(hooks, [["a token", SECRET]]);
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  server = await startServer({
    agents: { graph: failingGraph(), agent: failingTool() },
    onError: (error) => told.push(error),
    runs: { webhooks: { allowPrivate: true } },
  });
});
afterAll(async () => {
  await server.close();
  receiver.close();
  releaseSecrets(hooks);
});

const input = { messages: [{ role: "user", content: "Go." }] };

async function thread(): Promise<string> {
  const { body } = await server.call("POST", "/threads", {});
  return `/threads/${body.thread_id}`;
}

const clean = (answer: unknown): string => {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  expect(text).not.toMatch(LEAK);
  return text;
};

test("streams in every mode, state, history, wait and webhook tell a failed run by its name and its words", async () => {
  const path = await thread();
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const run = { assistant_id: "graph", stream_mode: MODES, stream_subgraphs: true };
  const first = await server.call("POST", `${path}/runs/stream`, { ...run, input, webhook });
  // The second run begins where the first failed: its checkpoints name the error of the task.
  const again = await server.call("POST", `${path}/runs/stream`, { ...run, input: null });
  for (const { body } of [first, again])
    expect(clean(body)).toMatch(
      /event: error\ndata: \{"error":"TypeError","message":"Cannot open '…' with \[a token\]/,
    );

  const { body: state } = await server.call("GET", `${path}/state?subgraphs=true`);
  expect(state.tasks).toMatchObject([
    { name: "inner", error: expect.stringMatching(/^TypeError: Cannot open '…' with \[a token\]/) },
  ]);
  clean(state);
  const { body: history } = await server.call("POST", `${path}/history`, { limit: 100 });
  expect(clean(history)).toContain("TypeError: Cannot open");

  const wait = await server.call("POST", `${path}/runs/wait`, { assistant_id: "graph", input });
  expect(wait.body.__error__).toMatchObject({ error: "TypeError" });
  clean(wait.body);
  await until(() => hooks.length > 0);
  expect(clean(hooks.join())).toContain("Cannot open");

  // The log has what clients are not told.
  expect(told[0]).toMatchObject({ message: expect.stringContaining("/etc/app/keys.json") });
  expect((told[0] as Error).stack).toMatch(/errors-for-clients/);
});

test("the events of a failed call have no stack", async () => {
  const { body } = await server.call("POST", `${await thread()}/runs/stream`, {
    assistant_id: "agent",
    input,
    stream_mode: ["events", "custom", "tools", "debug"],
  });
  const failed = body.split("\n").filter((line: string) => line.includes("on_tool_error"));
  expect(failed.length).toBeGreaterThan(1);
  for (const line of failed) expect(clean(line)).toContain("Cannot open '…' with [a token]");
  expect(clean(body.split("\n").find((line: string) => line.includes('"failure"')))).toContain("TypeError");
});

test("clients of MCP are told a failed run by its words, and of a broken server nothing", async () => {
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${TOKEN}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }) as never,
  );
  const failed = await client.callTool({ name: "graph", arguments: { message: "Go." } });
  expect(failed.isError).toBe(true);
  expect(clean(failed)).toContain("The run failed: Cannot open '…'");

  const { runs } = server.app.storage.records;
  const { get } = runs;
  runs.get = async () => {
    throw boom();
  };
  const broken = await client.callTool({ name: "graph", arguments: { message: "Go." } });
  runs.get = get;
  expect(broken).toMatchObject({
    isError: true,
    content: [{ text: "The server failed; its log says why." }],
  });
  clean(broken);
  await client.close();
});
