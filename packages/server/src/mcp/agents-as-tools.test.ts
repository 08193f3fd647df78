/** Agents as tools, with the SDK's own client over a port. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../../../mcp/src/mcp-for-tests.ts";
import { auth, json, raw } from "../http/raw-for-tests.ts";
import { echoAgent, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ agents: { echo: echoAgent(), "a.b": echoAgent(), a_b: echoAgent() } });
});
afterAll(() => server.close());

async function client(url = server.url, token = TOKEN): Promise<Client> {
  const one = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  onTestFinished(() => one.close());
  await one.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit }) as never);
  return one;
}

const facts = (result: unknown) =>
  (result as { structuredContent: { thread_id: string; run_id: string; status: string; answer: string } })
    .structuredContent;

test("each agent is a tool; a call is a run whose thread can be gone on with", async () => {
  const one = await client();
  const { tools } = await one.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["echo", "a_b", "a_b_2"]);
  const first = await one.callTool({ name: "echo", arguments: { message: "hello" } });
  expect(first).toMatchObject({ content: [{ type: "text", text: "echo: hello" }] });
  const { thread_id, status } = facts(first);
  expect(status).toBe("success");
  await one.callTool({ name: "echo", arguments: { message: "more", thread_id } });
  const { body } = await server.call("GET", `/threads/${thread_id}/state`);
  expect(body.values.messages.map(({ content }: { content: string }) => content)).toEqual([
    "hello",
    "echo: hello",
    "more",
    "echo: more",
  ]);
});

test("steps are told as progress, and a run that waits for a person says for what", async () => {
  const one = await client();
  const steps: (string | undefined)[] = [];
  const onprogress = ({ message }: { message?: string }): number => steps.push(message);
  await one.callTool({ name: "echo", arguments: { message: "wait 10" } }, undefined, { onprogress });
  expect(steps).toEqual(["calls sleep"]);
  const waiting = await one.callTool({ name: "echo", arguments: { message: "ask" } });
  expect(facts(waiting)).toMatchObject({
    status: "interrupted",
    waits_for: [{ actionRequests: [{ name: "ask" }] }],
  });
});

test("a call brings a message and nothing else into a state", async () => {
  const one = await client();
  const count = async () => (await server.call("POST", "/threads/count", {})).body;
  const before = await count();
  for (const more of [
    { files: { "/../x": { content: "x" } } },
    { input: { todos: "x" } },
    { messages: [] },
  ]) {
    const refused = await one.callTool({ name: "echo", arguments: { message: "hi", ...more } });
    expect(refused).toMatchObject({ isError: true });
  }
  expect(await count()).toBe(before);
});

test("cancelling a call ends its run", async () => {
  const one = await client();
  const stop = new AbortController();
  const params = { name: "echo", arguments: { message: "wait 600000" } };
  const calling = one.callTool(params, undefined, { signal: stop.signal, onprogress: () => stop.abort() });
  await expect(calling).rejects.toThrow();
  await expect
    .poll(async () => {
      const { body } = await server.call("POST", "/threads/search", { status: "busy" });
      return body.length;
    })
    .toBe(0);
});

test.each([
  [{ name: "nobody", arguments: { message: "x" } }, "There is no agent 'nobody'"],
  [{ name: "echo", arguments: {} }, "message"],
  [
    { name: "echo", arguments: { message: "x", thread_id: "00000000-0000-4000-8000-000000000000" } },
    "no such thread",
  ],
  [{ name: "echo", arguments: { message: "x", thread_id: "../../etc" } }, "thread_id"],
  [{ name: "echo", arguments: { message: "x", assistant_id: "y" } }, "assistant_id"],
])("%j is an answer with an error", async (params, words) => {
  const result = await (await client()).callTool(params);
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(words) }] });
});

test("SV-01 SV-02 SV-03 the address has the doors of all others", async () => {
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
  });
  const ask = (headers: Record<string, string>) =>
    fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { ...json, accept: "application/json, text/event-stream", ...headers },
      body: initialize,
    });
  expect((await ask({})).status).toBe(401);
  const foreign = { ...auth, ...json, host: "evil.example" };
  expect((await raw(server, "POST", "/mcp", foreign, initialize)).status).toBe(403);
  expect((await ask({ ...auth, origin: "https://evil.example" })).status).toBe(403);
  const good = await ask(auth);
  expect(good.status).toBe(200);
  await good.body?.cancel();
});

test("SV-06 a session and its threads are its owner's alone", async () => {
  const tenants = await startServer({
    authenticate: (request) => {
      const token = request.headers.get("authorization")?.slice("Bearer ".length);
      return token ? { identity: token } : undefined;
    },
  });
  onTestFinished(() => tenants.close());
  const [ann, bob] = [await client(tenants.url, "ann"), await client(tenants.url, "bob")];
  const { thread_id } = facts(await ann.callTool({ name: "echo", arguments: { message: "secret" } }));
  expect(await bob.callTool({ name: "echo", arguments: { message: "x", thread_id } })).toMatchObject({
    isError: true,
  });
  const session = (ann.transport as unknown as { sessionId: string }).sessionId;
  const stolen = await fetch(`${tenants.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: "Bearer bob",
      "mcp-session-id": session,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(stolen.status).toBe(404);
});

test("an agent here uses an agent there", async () => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { mcp } = await opened({
    servers: { there: { url: `${server.url}/mcp`, headers, allowPrivate: true } },
  });
  const tool = mcp.tools.find(({ name }) => name === "mcp__there__echo");
  expect(String(await tool?.invoke({ message: "hi" }))).toBe("echo: hi");
});

test("without it there is no such address", async () => {
  const without = await startServer({ mcp: false });
  onTestFinished(() => without.close());
  expect((await without.call("POST", "/mcp", {})).status).toBe(404);
});
