/** The SDK of the protocol: loaded when a client first comes, since not everybody has it installed. */
import { ConfigurationError } from "deepwright/errors";

export async function loadServerSdk() {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport }, { StdioServerTransport }, types] =
    await Promise.all([
      import("@modelcontextprotocol/sdk/server/index.js"),
      import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]).catch(notInstalled);
  const { CallToolRequestSchema, ListToolsRequestSchema } = types;
  return {
    Server,
    WebStandardStreamableHTTPServerTransport,
    StdioServerTransport,
    CallToolRequestSchema,
    ListToolsRequestSchema,
  };
}

function notInstalled(cause: NodeJS.ErrnoException): never {
  const name = "@modelcontextprotocol/sdk";
  if (cause.code !== "ERR_MODULE_NOT_FOUND" || !cause.message.includes(name)) throw cause;
  throw new ConfigurationError("NOT_SUPPORTED", `MCP needs the package ${name}, which is not installed.`, {
    hint: `npm install ${name}`,
    cause,
  });
}
