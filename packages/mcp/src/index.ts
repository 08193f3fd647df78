/** Tools of MCP servers for agents: connects to servers, checks trust, offers their tools. */

export type { Mcp, McpServerStatus, OpenMcpOptions, TrustRequest } from "./mcp-types.ts";
export type { McpNotice, McpNoticeCode, OnNotice } from "./notices.ts";
export { openMcp } from "./open-mcp.ts";
export type { ConnectionState } from "./servers/connection.ts";
export type { HttpDefinition, McpServerDefinition, StdioDefinition } from "./servers/definition.ts";
export {
  controlPathsOf,
  type KnownServer,
  knownServers,
  PROJECT_FILE,
  type ServerOrigin,
  type ServerSources,
  trustOf,
  USER_FILE,
} from "./servers/known-servers.ts";
export { variablesIn } from "./servers/variables.ts";
export { toolNameFor, toolPrefix } from "./tools/tool-names.ts";
export type { ToolChange } from "./trust/approved-tools.ts";
export type { FileChange, NamedFile } from "./trust/named-files.ts";
export { readPrivateFile, writePrivateFile } from "./trust/private-file.ts";
export { definitionHash, type TrustStore, type TrustSubject } from "./trust/trust-store.ts";
