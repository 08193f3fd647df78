/** Agents as tools of an MCP server, for any MCP client. */
export { type AgentTools, createAgentsServer } from "./agents-as-tools.ts";
export { type ServeStdioOptions, serveMcpStdio } from "./serve-stdio.ts";
