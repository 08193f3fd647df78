/** An MCP server on stdin and stdout, with a tool for each thing it sells. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const THINGS = ["apples", "dates", "figs", "grapes", "kiwis", "limes", "nuts", "pears", "plums", "seeds"];

const server = new McpServer({ name: "shop", version: "1.0.0" });
for (const thing of THINGS)
  server.registerTool(
    `price_of_${thing}`,
    {
      description: `What ${thing} cost today, for the pounds that are wanted.`,
      inputSchema: { pounds: z.number().describe("How many pounds.") },
      annotations: { readOnlyHint: true },
    },
    ({ pounds }) => ({ content: [{ type: "text", text: `${pounds * 2} dollars` }] }),
  );
await server.connect(new StdioServerTransport());
