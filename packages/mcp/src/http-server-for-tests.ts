/** An MCP server over HTTP, for tests. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { onTestFinished } from "vitest";
import { z } from "zod";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a plain server with the given answers and returns its address; closed when the test is over. */
export async function listening(
  answer: Answer,
  port = 0,
  host = "127.0.0.1",
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(port, host, done));
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close };
}

/** A server of the older kind: events on one address, messages to another. */
export async function sseTools() {
  const open = new Map<string, SSEServerTransport>();
  return listening(async (request, response) => {
    const id = new URL(request.url ?? "/", "http://x").searchParams.get("sessionId");
    if (id !== null) return void open.get(id)?.handlePostMessage(request, response);
    const transport = new SSEServerTransport("/messages", response);
    open.set(transport.sessionId, transport);
    await echoServer("sse").connect(transport);
  });
}

function echoServer(name: string): McpServer {
  const server = new McpServer({ name, version: "1.0.0" });
  const inputSchema = { words: z.string() };
  server.registerTool("echo", { description: "Says it again.", inputSchema }, ({ words }) => ({
    content: [{ type: "text", text: `${name}: ${words}` }],
  }));
  return server;
}

/** With sessions, which it forgets when it is started anew. */
export async function httpTools(port = 0) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen: IncomingMessage["headers"][] = [];
  const answer: Answer = async (request, response) => {
    seen.push(request.headers);
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) return void response.writeHead(404).end("{}");
    if (known) return void known.handleRequest(request, response);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    await echoServer("http").connect(transport as never);
    await transport.handleRequest(request, response);
  };
  return { ...(await listening(answer, port)), seen };
}
