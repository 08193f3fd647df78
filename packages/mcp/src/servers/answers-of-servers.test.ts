import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { listening } from "../http-server-for-tests.ts";
import { opened } from "../mcp-for-tests.ts";

async function messageOf(request: IncomingMessage): Promise<{ id?: number; method: string }> {
  let text = "";
  for await (const piece of request) text += piece;
  return JSON.parse(text);
}

/** A server with one tool that says how its own answers must be, and answers so. */
function judging(outputSchema: object, structuredContent: object) {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "judge", version: "1" },
    },
    "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" }, outputSchema }] },
    "tools/call": { content: [], structuredContent },
  };
  return listening(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = await messageOf(request);
    if (id === undefined) return void response.writeHead(202).end();
    const answer = JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} });
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
}

test("TR-06 what a server says of its own answers is not run on them", async () => {
  const pattern = { type: "object", properties: { words: { type: "string", pattern: "^(a+)+$" } } };
  const words = `${"a".repeat(32)}!`;
  const { url } = await judging(pattern, { words });
  const { mcp } = await opened({ servers: { web: { type: "http", url, allowPrivate: true } } });
  const answer = await withinCpuLimit("an MCP call with a hostile pattern in its schemas", () =>
    mcp.tools[0]?.invoke({}),
  );
  expect(String(answer)).toContain(words);
});
