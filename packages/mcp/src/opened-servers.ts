/** Servers after opening, with everything that an agent gets from them. */

import { visibleLine } from "deepwright/console-line";
import type { Mcp, McpServerStatus, OpenMcpOptions } from "./mcp-types.ts";
import { createMcpMiddleware } from "./middleware.ts";
import type { OnNotice } from "./notices.ts";
import type { HttpDefinition, StdioDefinition } from "./servers/definition.ts";
import { controlPathsOf, type KnownServer, trustOf } from "./servers/known-servers.ts";
import { createCatalogue } from "./tools/catalogue.ts";
import { saysItReads } from "./tools/offered-tool.ts";
import { createMcpServer, isBelieved, type McpServer } from "./tools/server-tools.ts";
import { openToolCache } from "./tools/tool-cache.ts";
import { toolPrefix } from "./tools/tool-names.ts";
import { openTrustStore } from "./trust/trust-store.ts";

export interface ServersRequest {
  readonly known: readonly KnownServer[];
  /** Names of servers that must not be started. */
  readonly untrusted: ReadonlySet<string>;
  readonly options: OpenMcpOptions;
  readonly onNotice: OnNotice;
}

const TOOL_TOKENS = 2_000;
/** Seconds. */
const START_TIMEOUT = 30;
/** Started at a time. */
const MOST_STARTING = 8;

export async function openServers({ known, untrusted, options, onNotice }: ServersRequest): Promise<Mcp> {
  const catalogue = createCatalogue((name, [first = "", second = ""]) =>
    onNotice({
      code: "TOOL_REFUSED",
      server: first,
      message: `Tools of '${visibleLine(first)}' and '${visibleLine(second)}' would both be called ${name}: none of them is offered.`,
    }),
  );
  const cache = options.home === undefined ? undefined : openToolCache(options.home);
  const trust = trustOf(options.home) ?? openTrustStore();
  const servers = known
    .filter((one): one is UsableServer => !one.definition.disabled && !untrusted.has(one.name))
    .map((one) =>
      createMcpServer({
        known: one,
        environment: options.environment ?? process.env,
        startTimeout: (options.startTimeout ?? START_TIMEOUT) * 1_000,
        catalogue,
        cache,
        trust,
        trustTool: options.trustTool,
        onNotice,
      }),
    );
  const close = closing(servers, options.signal);
  try {
    await opened(servers);
    options.signal?.throwIfAborted();
  } catch (error) {
    await close();
    throw error;
  }
  const isReadOnly = (tool: string): boolean =>
    servers.some(
      ({ name, offered }) =>
        isBelieved(known.find((one) => one.name === name)) &&
        offered.some((one) => one.name === tool && saysItReads(one)),
    );
  return {
    middleware: createMcpMiddleware(catalogue, options.toolTokens ?? TOOL_TOKENS),
    get tools() {
      return catalogue.current().tools;
    },
    interruptOn: { [`${toolPrefix()}*`]: { when: ({ toolCall }) => !isReadOnly(toolCall.name) } },
    get servers() {
      return known.map((one) => statusOf(one, servers, untrusted));
    },
    controlPaths: controlPathsOf(
      known.map((one) => (untrusted.has(one.name) ? one : { ...one, trusted: true })),
    ),
    isReadOnly,
    close,
    [Symbol.asyncDispose]: close,
  };
}

type UsableServer = KnownServer & { readonly definition: StdioDefinition | HttpDefinition };

async function opened(servers: readonly McpServer[]): Promise<void> {
  const waiting = [...servers];
  const next = async (): Promise<void> => {
    for (let server = waiting.shift(); server; server = waiting.shift()) await server.open();
  };
  await Promise.all(Array.from({ length: Math.min(MOST_STARTING, servers.length) }, next));
}

/** Also called when the signal aborts. */
function closing(servers: readonly McpServer[], signal: AbortSignal | undefined): () => Promise<void> {
  let closed: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    signal?.removeEventListener("abort", close);
    closed ??= Promise.all(servers.map((server) => server.close()));
    await closed;
  };
  signal?.addEventListener("abort", close);
  return close;
}

function statusOf(
  { name, origin, definition }: KnownServer,
  servers: readonly McpServer[],
  untrusted: ReadonlySet<string>,
): McpServerStatus {
  const server = servers.find((one) => one.name === name);
  return {
    name,
    origin,
    state: server?.state ?? (untrusted.has(name) && !definition.disabled ? "untrusted" : "disabled"),
    problem: server?.problem,
    tools: server?.offered.map((tool) => tool.name) ?? [],
  };
}
