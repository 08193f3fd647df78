/**
 * Tools of an MCP server. Few of them would stand in every request; where they are many they are searched for.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/mcp.ts
 */
import { fileURLToPath } from "node:url";
import { openMcp } from "@deepwright/mcp";
import { createDeepAgent } from "deepwright";
import { callTool } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

const program = fileURLToPath(new URL("support/shop-server.ts", import.meta.url));
await using mcp = await openMcp({
  servers: { shop: { command: process.execPath, args: ["--import", import.meta.resolve("tsx"), program] } },
  toolTokens: 400,
});
for (const { name, state, tools } of mcp.servers) console.log(`${name}: ${state}, ${tools.length} tools`);

const agent = createDeepAgent({
  model: modelOrScript([
    callTool("search_mcp_tools", { query: "price of pears", limit: 1 }),
    callTool("mcp__shop__price_of_pears", { pounds: 3 }),
    "Three pounds of pears are 6 dollars.",
  ]),
  middleware: [mcp.middleware],
});
const { messages } = await agent.invoke({ messages: "What do three pounds of pears cost?" });
for (const message of messages) if (message.text) console.log(`${message.getType()}: ${message.text.trim()}`);
