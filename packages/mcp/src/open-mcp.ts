/** Opens MCP servers for agents. Whoever opens closes. */

import type { StructuredToolInterface } from "@langchain/core/tools";
import type { InterruptOnConfig } from "deepwright";
import { checkNames } from "deepwright/check-options";
import { visibleLine, warnOnConsole } from "deepwright/console-line";
import { checkDurations } from "deepwright/duration";
import { ConfigurationError } from "deepwright/errors";
import type { McpMiddleware } from "./middleware.ts";
import type { OnNotice } from "./notices.ts";
import type { ConnectionState } from "./servers/connection.ts";
import type { McpServerDefinition } from "./servers/definition.ts";
import {
  type KnownServer,
  knownServers,
  type ServerOrigin,
  type ServerSources,
  trustOf,
} from "./servers/known-servers.ts";
import { variablesIn } from "./servers/variables.ts";
import type { ToolChange } from "./trust/approved-tools.ts";
import { changeWords, type FileChange, type NamedFile } from "./trust/named-files.ts";
import { definitionHash } from "./trust/trust-store.ts";

/** Question to a person about a server of a project. Nothing of it has run. */
export interface TrustRequest {
  readonly name: string;
  /** The real path of the project. */
  readonly project: string;
  /** As it is written; variables are filled in only after a yes. */
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
   * Whether a tool may be used that is not described as it was when it was agreed to, or first seen. True is remembered.
   * Default: such a tool is left out, and waits in `home` for a yes.
   */
  readonly trustTool?: (change: ToolChange & { readonly server: string }) => boolean | Promise<boolean>;
  /** Tokens the schemas of all tools may take; above that they are searched for. Default 2,000. */
  readonly toolTokens?: number;
  /** Seconds a server has to be ready, at most a day. Default 30. */
  readonly startTimeout?: number;
  /** Where `${NAME}` in definitions is looked up. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Hears what is left out, lost, changed. Default: a line on the console. */
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
  /** All tools as they are now, sorted: for whoever wants a plain list. */
  readonly tools: readonly StructuredToolInterface[];
  /** For `createDeepAgent({ interruptOn: { ...mcp.interruptOn } })`: all calls are asked about but those that only read. */
  readonly interruptOn: Readonly<Record<string, InterruptOnConfig>>;
  readonly servers: readonly McpServerStatus[];
  /** Files of the project that the servers in use name. Give them to backends and sandboxes as `controlPaths`. */
  readonly controlPaths: readonly string[];
  /** Whether the tool says of itself that it only reads, and its server is the caller's or the user's own. */
  isReadOnly(tool: string): boolean;
  /** Ends all servers with what they started. Safe twice. */
  close(): Promise<void>;
}

const OPTIONS: Readonly<Record<keyof OpenMcpOptions, true>> = {
  servers: true,
  project: true,
  home: true,
  trust: true,
  trustTool: true,
  toolTokens: true,
  startTimeout: true,
  environment: true,
  onNotice: true,
  signal: true,
};

/** Servers that cannot be started are left out, told of, and tried again; what is wrong in a definition throws. */
export async function openMcp(options: OpenMcpOptions): Promise<Mcp> {
  checkOptions(options);
  const onNotice = options.onNotice ?? ((notice) => warnOnConsole("mcp", notice));
  const known = await knownServers(options, onNotice);
  options.signal?.throwIfAborted();
  const untrusted = await refusedOf(known, options, onNotice);
  // Whoever only looks at definitions loads nothing of what runs them.
  const { openServers } = await import("./opened-servers.ts");
  return openServers({ known, untrusted, options, onNotice });
}

/** One question at a time. */
async function refusedOf(
  known: readonly KnownServer[],
  { trust, home }: OpenMcpOptions,
  onNotice: OnNotice,
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  for (const { name, definition, directory, origin, trusted, files, changed } of known) {
    if (origin !== "project" || trusted || definition.disabled) continue;
    const subject = { project: directory, name, definition, files };
    const variables = variablesIn(definition);
    const request = { ...subject, variables, changed, hash: definitionHash(subject) };
    if (trust && (await trust(request)) === true) {
      await trustOf(home)?.add(subject);
      continue;
    }
    refused.add(name);
    const why =
      changed.length > 0 ? `${changeWords(changed)} since it was agreed to` : "nobody has agreed to it";
    const message = `The MCP server '${visibleLine(name)}' of this project is not used: ${why}.`;
    onNotice({ code: "UNTRUSTED", server: name, message });
  }
  return refused;
}

function checkOptions(options: OpenMcpOptions): void {
  checkNames("openMcp", options, Object.keys(OPTIONS));
  const { toolTokens, startTimeout } = options;
  checkDurations({ unit: "seconds", most: 86_400 }, { startTimeout });
  if (toolTokens !== undefined && !(Number.isFinite(toolTokens) && toolTokens > 0))
    throw new ConfigurationError("INVALID_OPTION", "The option 'toolTokens' must be a number above 0.");
}
