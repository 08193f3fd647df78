/** MCP servers that an editor hands over, as definitions of ours. Pure. */
import type { McpServer } from "@agentclientprotocol/sdk";

/** By name. Two servers of one name get different ones: their tools are named after them. */
export function clientServers(servers: readonly McpServer[]): Record<string, Record<string, unknown>> {
  const definitions: Record<string, Record<string, unknown>> = {};
  for (const server of servers) {
    const base =
      server.name
        .replace(/[^\w-]+/g, "-")
        .replace(/^[_-]+/, "")
        .slice(0, 60) || "server";
    let name = base;
    for (let i = 2; Object.hasOwn(definitions, name); i++) name = `${base}-${i}`;
    definitions[name] = definitionOf(server);
  }
  return definitions;
}

function definitionOf(server: McpServer): Record<string, unknown> {
  if ("url" in server) {
    const { type, url, headers } = server;
    return { type, url, headers: pairs(headers) };
  }
  const { command, args, env } = server;
  return { command, args, env: pairs(env) };
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
