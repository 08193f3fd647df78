/** MCP: tools of servers for agents, and agents as tools for others. */
export { type AgentTools, createAgentsServer } from "./agents-as-tools.ts";
export type { ConnectionState } from "./connection.ts";
export type { HttpDefinition, McpServerDefinition, StdioDefinition } from "./definition.ts";
export {
  controlPathsOf,
  type KnownServer,
  knownServers,
  PROJECT_FILE,
  type ServerOrigin,
  type ServerSources,
  trustOf,
  USER_FILE,
} from "./known-servers.ts";
export type { McpNotice, McpNoticeCode, OnNotice } from "./notices.ts";
export {
  type Mcp,
  type McpServerStatus,
  type OpenMcpOptions,
  openMcp,
  type TrustRequest,
} from "./open-mcp.ts";
export { type ServeStdioOptions, serveMcpStdio } from "./serve-stdio.ts";
export { toolNameFor, toolPrefix } from "./tool-names.ts";
export type { ToolChange } from "./trust/approved-tools.ts";
export type { FileChange, NamedFile } from "./trust/named-files.ts";
export { readPrivateFile, writePrivateFile } from "./trust/private-file.ts";
export { definitionHash, type TrustStore, type TrustSubject } from "./trust/trust-store.ts";
export { variablesIn } from "./variables.ts";
