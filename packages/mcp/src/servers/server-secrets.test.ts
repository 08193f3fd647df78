/** Servers that repeat what they were sent: nothing of it is shown, stored or told to the model by way of an error. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createDeepAgent } from "deepwright";
import { heldSecrets } from "deepwright/secrets";
import { say, scriptedModel } from "deepwright/testing";
import { expect, test } from "vitest";
import { listening } from "../http-server-for-tests.ts";
import { opened, scratch } from "../mcp-for-tests.ts";

const SECRET = "header-secret-4711";
const NAMES = ["constructor", "toString", "__proto__", "fails"];

/** Has tools of these names; `fails` answers with an error, the others with their name. */
async function oddTools() {
  return listening(async (request, response) => {
    const { authorization } = request.headers;
    const server = new Server({ name: "odd", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: NAMES.map((name) => ({ name, description: "Odd.", inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      if (params.arguments?.thrown) throw new Error(`unknown caller ${authorization}`);
      const text = params.name === "fails" ? `wrong token: ${authorization}` : `this is ${params.name}`;
      return { content: [{ type: "text", text }], isError: params.name === "fails" };
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined as never });
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  });
}

const web = (url: string) => ({
  type: "http",
  url,
  headers: { Authorization: `Bearer ${SECRET}` },
  allowPrivate: true,
});

async function run(
  mcp: Awaited<ReturnType<typeof opened>>["mcp"],
  calls: readonly { name: string; args: object }[],
) {
  const seen: string[] = [];
  const model = scriptedModel(({ messages }) => {
    seen.push(JSON.stringify(messages.map(({ content }) => content)));
    return messages.at(-1)?.type === "tool" ? say("done") : { toolCalls: calls as never };
  });
  const agent = createDeepAgent({ model, middleware: [mcp.middleware] });
  const { messages } = await agent.invoke({ messages: "go" });
  return { seen: seen.join("\n"), results: messages.filter((message) => message.type === "tool") };
}

test("a server over HTTP that repeats its header in refusals and in errors of tools", async () => {
  const { url } = await oddTools();
  const { mcp } = await opened({ servers: { odd: web(url) } });
  const failing = [
    { name: "mcp__odd__fails", args: {} },
    { name: "mcp__odd__fails", args: { thrown: true } },
  ];
  const { seen, results } = await run(mcp, failing);
  expect(results.map(({ text }) => text)).toEqual([
    expect.stringContaining("[Authorization]"),
    expect.stringContaining("[Authorization]"),
  ]);
  expect(seen).not.toContain(SECRET);

  const refusing = await listening((request, response) => {
    response.writeHead(403).end(`You are ${request.headers.authorization}`);
  });
  const refused = await opened({ servers: { web: web(refusing.url) } });
  const told = JSON.stringify([refused.notices, refused.mcp.servers]);
  expect(told).toContain("[Authorization]");
  expect(told).not.toContain(SECRET);
  const held = () => JSON.stringify(heldSecrets());
  expect(held()).toContain(SECRET);
  await Promise.all([mcp.close(), refused.mcp.close()]);
  expect(held()).not.toContain(SECRET);
});

test("a program that repeats a variable it was given, when it ends and in a long complaint", async () => {
  const program = join(await scratch(), "server.mjs");
  await writeFile(
    program,
    'process.stderr.write("x".repeat(930) + " no: " + process.env.API_TOKEN); process.exit(1);',
  );
  const definition = { command: process.execPath, args: [program], env: { API_TOKEN: "$" + "{GIVEN}" } };
  const { mcp, notices } = await opened({ servers: { tools: definition }, environment: { GIVEN: SECRET } });
  const told = JSON.stringify([notices, mcp.servers]);
  expect(told).toContain("It said: x");
  expect(told).not.toMatch(/header-s/);
});

test("tools and servers named like what every object has", async () => {
  const { url } = await oddTools();
  const { mcp } = await opened({ servers: { constructor: web(url), toString: web(url) } });
  const odd = NAMES.slice(0, 3).flatMap((tool) =>
    ["constructor", "toString"].map((server) => [server, tool]),
  );
  const calls = odd.map(([server, tool]) => ({ name: `mcp__${server}__${tool}`, args: {} }));
  const { results } = await run(mcp, calls);
  expect(results.map(({ text }) => text)).toEqual(odd.map(([, tool]) => `this is ${tool}`));
  const proto = JSON.parse('{"__proto__":{"url":"http://example.com"}}');
  await expect(opened({ servers: proto })).rejects.toThrow(/cannot be the name/);
});

test("a variable is one that is set: names every object has are none", async () => {
  const servers = { web: { url: "https://example.com", headers: { a: "$" + "{constructor}" } } };
  const { notices } = await opened({ servers, environment: {} });
  expect(JSON.stringify(notices)).toContain("constructor, which is not set");
});
