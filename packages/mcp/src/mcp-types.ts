/** Options and results of `openMcp`. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { InterruptOnConfig } from "deepwright";
import type { McpMiddleware } from "./middleware.ts";
import type { OnNotice } from "./notices.ts";
import type { ConnectionState } from "./servers/connection.ts";
import type { McpServerDefinition } from "./servers/definition.ts";
import type { ServerOrigin, ServerSources } from "./servers/known-servers.ts";
import type { ToolChange } from "./trust/approved-tools.ts";
import type { FileChange, NamedFile } from "./trust/named-files.ts";

/** A question to a person about a server of a project. Nothing of the server has run. */
export interface TrustRequest {
  readonly name: string;
  /** The real path of the project. */
  readonly project: string;
  /** The definition in its file; variables are filled in only after a yes. */
  readonly definition: McpServerDefinition;
  /** The names of variables it would be given. */
  readonly variables: readonly string[];
  /** Files of the project that the definition names; a yes is about their content too. */
  readonly files: readonly NamedFile[];
  /** Files that are not as they were when this definition was agreed to before; empty where it never was. */
  readonly changed: readonly FileChange[];
  /** Hash of the definition and of the files. */
  readonly hash: string;
}

export interface OpenMcpOptions extends ServerSources {
  /** Whether a server of the project may be used. True is remembered in `home`. Default: none that was not agreed to before. */
  readonly trust?: (request: TrustRequest) => boolean | Promise<boolean>;
  /**
   * Decides about a tool whose description changed since it was agreed to or first seen. True is remembered. Default:
   * the tool is left out, and waits in `home` for a yes.
   */
  readonly trustTool?: (change: ToolChange & { readonly server: string }) => boolean | Promise<boolean>;
  /** Tokens the schemas of all tools may take; above that they are searched for. Default 2,000. */
  readonly toolTokens?: number;
  /** Seconds a server has to be ready, at most a day. Default 30. */
  readonly startTimeout?: number;
  /** Where `${NAME}` in definitions is looked up. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Called when something is left out, lost or changed. Default: a line on the console. */
  readonly onNotice?: OnNotice;
  /** Closes all. */
  readonly signal?: AbortSignal;
}

export interface McpServerStatus {
  readonly name: string;
  readonly origin: ServerOrigin;
  readonly state: ConnectionState | "untrusted" | "disabled";
  /** Why it is not there. */
  readonly problem: string | undefined;
  /** Names as models call them. */
  readonly tools: readonly string[];
}

export interface Mcp extends AsyncDisposable {
  /** For `createDeepAgent({ middleware: [mcp.middleware] })`: the tools, or where they are many, a way to find them. */
  readonly middleware: McpMiddleware;
  /** All tools as they are now, sorted: a plain list. */
  readonly tools: readonly StructuredToolInterface[];
  /**
   * For `createDeepAgent({ interruptOn: { ...mcp.interruptOn } })`: a person approves all calls except of tools that
   * only read.
   */
  readonly interruptOn: Readonly<Record<string, InterruptOnConfig>>;
  readonly servers: readonly McpServerStatus[];
  /** Files of the project that the servers in use name. Give them to backends and sandboxes as `controlPaths`. */
  readonly controlPaths: readonly string[];
  /** Whether the tool claims to only read, and its server is the caller's or the user's own. */
  isReadOnly(tool: string): boolean;
  /** Ends all servers with their child processes. Calling it twice is safe. */
  close(): Promise<void>;
}
