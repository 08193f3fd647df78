/** One server with its connection and its tools. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import { visibleLine } from "deepwright/console-line";
import type { OpenMcpOptions } from "../mcp-types.ts";
import type { McpNoticeCode, OnNotice } from "../notices.ts";
import { type Connection, type ConnectionState, openConnection } from "../servers/connection.ts";
import type { HttpDefinition, StdioDefinition } from "../servers/definition.ts";
import type { KnownServer } from "../servers/known-servers.ts";
import type { ToolChange } from "../trust/approved-tools.ts";
import { changeWords, fileChanges, namedFiles } from "../trust/named-files.ts";
import { definitionHash, type TrustStore, type TrustSubject } from "../trust/trust-store.ts";
import type { Catalogue } from "./catalogue.ts";
import { langchainTools } from "./langchain-tools.ts";
import { type OfferedTool, offeredTools, type ToolDescription } from "./offered-tool.ts";
import type { ToolCache } from "./tool-cache.ts";

export interface McpServer {
  readonly name: string;
  readonly state: ConnectionState;
  readonly problem: string | undefined;
  readonly offered: readonly OfferedTool[];
  /** Resolves when its tools are known, or cannot be had now. */
  open(): Promise<void>;
  close(): Promise<void>;
}

export interface ServerParts {
  readonly known: KnownServer & { readonly definition: StdioDefinition | HttpDefinition };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly startTimeout: number;
  readonly catalogue: Catalogue;
  readonly cache: ToolCache | undefined;
  readonly trust: TrustStore;
  /** Decides about tools whose description changed. Absent: they stay out. */
  readonly trustTool: OpenMcpOptions["trustTool"];
  readonly onNotice: OnNotice;
}

/**
 * Whether the server's claims about its tools count: true for servers of the caller or the user, false for a project's.
 */
export function isBelieved(known: Pick<KnownServer, "origin"> | undefined): boolean {
  return known !== undefined && known.origin !== "project";
}

export function createMcpServer(parts: ServerParts): McpServer {
  const { known, catalogue, cache, environment, startTimeout } = parts;
  const { name, definition, directory } = known;
  const subject = { project: directory, name, definition };
  const hash = definitionHash(subject);
  const notice = (code: McpNoticeCode, message: string): void =>
    parts.onNotice({ code, server: name, message });
  let seen: readonly ToolDescription[] | undefined;
  /** Tools that must not be called: they changed, and no person agreed to the change. */
  let held: ReadonlySet<string> = new Set();
  let offered: readonly OfferedTool[] = [];
  let tools: readonly StructuredToolInterface[] = [];
  let connection: Connection;

  const publish = (): void => {
    catalogue.put({ server: name, offered, tools, problem: connection.problem });
  };
  const show = async (listed: readonly ToolDescription[]): Promise<void> => {
    const refused = (message: string): void => notice("TOOL_REFUSED", message);
    const checked = offeredTools(name, wantedOf(listed, definition, refused), refused);
    const made = await langchainTools(name, checked, connection, isBelieved(known));
    [offered, tools] = [checked, made];
    publish();
  };
  const showTrusted = async (listed: readonly ToolDescription[]): Promise<void> => {
    const changes = await openChanges(parts, subject, listed, seen ?? []);
    for (const change of changes)
      if (!held.has(change.name)) notice("TOOL_CHANGED", toolWords(name, change.name));
    held = new Set(changes.map((change) => change.name));
    await show(listed.filter((tool) => !held.has(tool.name)));
  };
  const take = async (listed: readonly ToolDescription[]): Promise<void> => {
    await showTrusted(listed);
    seen = listed;
    await cache?.put(hash, listed).catch((error: unknown) => notice("CACHE_FAILED", String(error)));
  };

  connection = openConnection({
    name,
    definition,
    directory,
    environment,
    startTimeout,
    beforeStart: async () => refuseChanged(known),
    onTools: take,
    refusal: (tool) => (held.has(tool) ? toolWords(name, tool) : undefined),
    onNotice: (code, message) => {
      notice(code, message);
      publish();
    },
  });
  return {
    name,
    get state() {
      return connection.state;
    },
    get problem() {
      return connection.problem;
    },
    get offered() {
      return offered;
    },
    async open() {
      const remembered = await cache?.get(hash);
      seen = remembered?.tools;
      if (remembered?.isFresh) await showTrusted(remembered.tools);
      else await connection.start();
    },
    close: () => connection.close(),
  };
}

/** Just before the program starts, also for the second time: only a program that is changed in this moment is not seen. */
async function refuseChanged(known: KnownServer): Promise<void> {
  if (known.origin !== "project") return;
  const changes = fileChanges(known.files, await namedFiles(known, known.directory));
  if (changes.length > 0)
    throw new Error(`It is not started: ${changeWords(changes)} since it was agreed to.`);
}

function wantedOf(
  listed: readonly ToolDescription[],
  { allowedTools, deniedTools = [] }: StdioDefinition | HttpDefinition,
  onMissing: (message: string) => void,
): readonly ToolDescription[] {
  const names = new Set(listed.map(({ name }) => name));
  for (const name of [...(allowedTools ?? []), ...deniedTools])
    if (!names.has(name))
      onMissing(`Its definition names the tool '${visibleLine(name, 80)}', which it does not have.`);
  return listed.filter(({ name }) => (allowedTools?.includes(name) ?? true) && !deniedTools.includes(name));
}

/** The tools that changed since they were agreed to, without those that are agreed to now. */
async function openChanges(
  { trust, trustTool }: ServerParts,
  subject: TrustSubject,
  listed: readonly ToolDescription[],
  seen: readonly ToolDescription[],
): Promise<readonly ToolChange[]> {
  const open: ToolChange[] = [];
  for (const change of await trust.listed(subject, listed, seen)) {
    if (trustTool && (await trustTool({ ...change, server: subject.name })) === true)
      await trust.approveTool(subject, change.name);
    else open.push(change);
  }
  return open;
}

function toolWords(server: string, tool: string): string {
  return `The tool '${visibleLine(tool, 80)}' of '${visibleLine(server)}' has another description since it was agreed to. It is left out until a person agrees to the new description.`;
}
