/** The packages that speak the protocol: loaded when first used, since not everybody has them. */
import { ConfigurationError } from "deepwright/errors";

export async function loadSdk() {
  return installed("@modelcontextprotocol/sdk", async () => {
    const [{ Client }, { deserializeMessage, serializeMessage }, http, types] = await Promise.all([
      import("@modelcontextprotocol/sdk/client/index.js"),
      import("@modelcontextprotocol/sdk/shared/stdio.js"),
      import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]);
    const { StreamableHTTPClientTransport } = http;
    const { ToolListChangedNotificationSchema } = types;
    return {
      Client,
      deserializeMessage,
      serializeMessage,
      StreamableHTTPClientTransport,
      ToolListChangedNotificationSchema,
    };
  });
}

/** For servers of the older kind. */
export async function loadSse() {
  return installed("@modelcontextprotocol/sdk", async () => {
    const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
    return SSEClientTransport;
  });
}

export async function loadAdapters() {
  return installed("@langchain/mcp-adapters", () => import("@langchain/mcp-adapters"));
}

async function installed<Loaded>(name: string, load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    const { code, message = "" } = (cause ?? {}) as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(name)) throw cause;
    throw new ConfigurationError("NOT_SUPPORTED", `MCP needs the package ${name}, which is not installed.`, {
      hint: "npm install @langchain/mcp-adapters @modelcontextprotocol/sdk",
      cause,
    });
  }
}
