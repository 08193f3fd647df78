/** One server with its connection and what it offers. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { Catalogue } from "./catalogue.ts";
import { type Connection, type ConnectionState, openConnection } from "./connection.ts";
import type { HttpDefinition, StdioDefinition } from "./definition.ts";
import type { KnownServer } from "./known-servers.ts";
import { langchainTools } from "./langchain-tools.ts";
import type { McpNoticeCode, OnNotice } from "./notices.ts";
import { type OfferedTool, offeredTools, type ToolDescription } from "./offered-tool.ts";
import type { ToolCache } from "./tool-cache.ts";
import { definitionHash } from "./trust.ts";
import { visibleLine } from "./visible-text.ts";

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
  readonly onNotice: OnNotice;
}

export function createMcpServer(parts: ServerParts): McpServer {
  const { known, catalogue, cache, environment, startTimeout } = parts;
  const { name, definition, directory } = known;
  const hash = definitionHash({ project: directory, name, definition });
  const notice = (code: McpNoticeCode, message: string): void =>
    parts.onNotice({ code, server: name, message });
  let seen: readonly ToolDescription[] | undefined;
  let offered: readonly OfferedTool[] = [];
  let tools: readonly StructuredToolInterface[] = [];
  let connection: Connection;

  const publish = (): void => {
    catalogue.put({ server: name, offered, tools, problem: connection.problem });
  };
  const show = async (listed: readonly ToolDescription[]): Promise<void> => {
    const refused = (message: string): void => notice("TOOL_REFUSED", message);
    const checked = offeredTools(name, wantedOf(listed, definition, refused), refused);
    const made = await langchainTools(name, checked, connection);
    [offered, tools] = [checked, made];
    publish();
  };
  /** Told of changes, then kept: each change is told once. */
  const take = async (listed: readonly ToolDescription[]): Promise<void> => {
    for (const words of changeWords(name, seen ?? [], listed)) notice("TOOL_CHANGED", words);
    seen = listed;
    await show(listed);
    await cache?.put(hash, listed).catch((error: unknown) => notice("CACHE_FAILED", String(error)));
  };

  connection = openConnection({
    name,
    definition,
    directory,
    environment,
    startTimeout,
    onTools: take,
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
      if (remembered?.isFresh) await show(remembered.tools);
      else await connection.start();
    },
    close: () => connection.close(),
  };
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

/** About those that are in both and differ. */
function changeWords(
  server: string,
  before: readonly ToolDescription[],
  after: readonly ToolDescription[],
): readonly string[] {
  const known = new Map(before.map((tool) => [tool.name, essence(tool)]));
  return after
    .filter((tool) => known.has(tool.name) && known.get(tool.name) !== essence(tool))
    .map(
      ({ name }) =>
        `The tool '${visibleLine(name, 80)}' of '${visibleLine(server)}' is not described as it was before.`,
    );
}

function essence({ description, inputSchema, annotations }: ToolDescription): string {
  return JSON.stringify([description, inputSchema, annotations?.readOnlyHint]);
}
