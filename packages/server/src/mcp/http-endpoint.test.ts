/** Sessions at `/mcp`: how many there are, how long they live, and that their streams count. */

import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { startServer, TOKEN } from "../server-for-tests.ts";
import { createMcpEndpoint } from "./http-endpoint.ts";

const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

async function post(url: string, message: object, session?: string): Promise<Response> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, ...(session !== undefined && { "mcp-session-id": session }) },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  await response.text();
  return response;
}

async function begun(url: string): Promise<string> {
  const response = await post(url, { id: 1, ...INITIALIZE });
  expect(response.status).toBe(200);
  return response.headers.get("mcp-session-id") as string;
}

const isThere = async (url: string, session: string) =>
  (await post(url, { id: 2, method: "ping" }, session)).status === 200;

/** Opens the stream for what the server says by itself. */
async function listen(url: string, session: string): Promise<{ status: number; leave(): void }> {
  const stop = new AbortController();
  const response = await fetch(`${url}/mcp`, {
    headers: { ...HEADERS, "mcp-session-id": session },
    signal: stop.signal,
  });
  return { status: response.status, leave: () => stop.abort() };
}

/** The endpoint alone on a port, with servers that can do nothing but be there. */
async function endpoint({
  openMs = 0,
  ...options
}: {
  readonly sessions?: number;
  readonly idleMs?: number;
  readonly openMs?: number;
}) {
  const closed: number[] = [];
  const mcp = createMcpEndpoint({
    open: async () => {
      if (openMs > 0) await new Promise((done) => setTimeout(done, openMs));
      const server = new Server({ name: "test", version: "1" });
      server.onclose = () => void closed.push(closed.length);
      return server;
    },
    ...options,
  });
  const port = createAdaptorServer({
    fetch: async (request) =>
      mcp.handle(request, { owner: "ada" }, request.method === "POST" ? await request.json() : undefined),
  });
  await new Promise<void>((done) => port.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    await mcp.close();
    const ended = new Promise((done) => port.close(done));
    (port as HttpServer).closeAllConnections();
    await ended;
  });
  return { url: `http://127.0.0.1:${(port.address() as AddressInfo).port}`, closed };
}

test("however many sessions are begun at once, the owner has as many as it may", async () => {
  const { url, closed } = await endpoint({ sessions: 3, openMs: 200 });
  const sessions = await Promise.all(Array.from({ length: 10 }, () => begun(url)));
  const there = await Promise.all(sessions.map((session) => isThere(url, session)));
  expect(there.filter(Boolean)).toHaveLength(3);
  expect(closed).toHaveLength(7);
});

test("a request that begins no session takes no other one's place and leaves no server behind", async () => {
  const { url, closed } = await endpoint({ sessions: 1 });
  const session = await begun(url);
  expect((await post(url, { id: 1, method: "ping" })).status).toBe(400);
  expect(closed).toHaveLength(1);
  expect(await isThere(url, session)).toBe(true);
});

test("a session that is not used ends, one that is used or listened to does not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, closed } = await endpoint({ idleMs: 1_000 });
  const [idle, used, heard] = [await begun(url), await begun(url), await begun(url)];
  const stream = await listen(url, heard);
  expect(stream.status).toBe(200);
  for (let i = 0; i < 3; i += 1) {
    expect(await isThere(url, used)).toBe(true);
    vi.advanceTimersByTime(600);
  }
  await expect.poll(() => closed.length).toBe(1);
  expect(await isThere(url, idle)).toBe(false);
  expect(await isThere(url, heard)).toBe(true);
  stream.leave();
  await eventually(() => {
    vi.advanceTimersByTime(1_000);
    expect(closed).toHaveLength(3);
  });
});

test("streams count as the caller's, notifications need none, and what is over gives its place back", async () => {
  const server = await startServer({ limits: { streams: 1 } });
  onTestFinished(() => server.close());
  const session = await begun(server.url);
  expect(await isThere(server.url, session)).toBe(true);
  const stream = await listen(server.url, session);
  expect(stream.status).toBe(200);
  const call = { method: "tools/call", params: { name: "echo", arguments: { message: "hi" } } };
  expect((await post(server.url, { id: 3, ...call }, session)).status).toBe(429);
  expect((await post(server.url, { id: 3, ...INITIALIZE })).status).toBe(429);
  expect((await server.call("POST", "/threads/count", {})).body).toBe(0);
  expect((await post(server.url, { method: "notifications/initialized" }, session)).status).toBe(202);
  stream.leave();
  await expect.poll(async () => (await post(server.url, { id: 3, ...call }, session)).status).toBe(200);
  expect((await post(server.url, { id: 4, method: "ping" }, "none")).status).toBe(404);
  expect(await isThere(server.url, session)).toBe(true);
});

test("a call of the SDK's own client has its answer through the counted stream", async () => {
  const server = await startServer({ limits: { streams: 3 } });
  onTestFinished(() => server.close());
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", server.url), { requestInit }) as never,
  );
  for (let i = 0; i < 5; i += 1)
    expect(await client.callTool({ name: "echo", arguments: { message: `${i}` } })).toMatchObject({
      content: [{ text: `echo: ${i}` }],
    });
  await client.close();
});
