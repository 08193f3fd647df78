/** All tools of all servers as they are now, and as the runs at work began with. */
import { createHash } from "node:crypto";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { visibleLine } from "deepwright/console-line";
import { estimateTokens } from "deepwright/internal";
import type { OfferedTool } from "./offered-tool.ts";
import type { IndexedTool } from "./tool-index.ts";
import { toolPrefix } from "./tool-names.ts";

export interface ServerTools {
  readonly server: string;
  readonly offered: readonly OfferedTool[];
  /** In the same order. */
  readonly tools: readonly StructuredToolInterface[];
  /** Why its tools are missing; undefined: they are there. */
  readonly problem?: string | undefined;
}

/** The tools of one run; they stay the same while servers change. */
export interface Snapshot {
  /** Differs for different snapshots, and is the same for equal ones in every process. */
  readonly version: string;
  /** Sorted by name. */
  readonly tools: readonly StructuredToolInterface[];
  readonly byName: ReadonlyMap<string, StructuredToolInterface>;
  readonly index: readonly IndexedTool[];
  /** Estimated tokens of all tools in a request. */
  readonly tokens: number;
  /** Servers whose tools are missing, for the model. */
  readonly missing: readonly string[];
}

export interface Catalogue {
  current(): Snapshot;
  /** The snapshot a run began with, or the current one where that is not known here any more. */
  of(version: string | undefined): Snapshot;
  put(tools: ServerTools): void;
}

const MOST_KEPT = 32;

/** `onDoubled` is called once for each name that tools of two servers share: none of these tools is offered. */
export function createCatalogue(onDoubled: (name: string, servers: readonly string[]) => void): Catalogue {
  const servers = new Map<string, ServerTools>();
  const kept = new Map<string, Snapshot>();
  const told = new Set<string>();
  let current: Snapshot | undefined;
  const tell = (name: string, own: readonly string[]): void => {
    if (!told.has(name)) onDoubled(name, own);
    told.add(name);
  };
  const now = (): Snapshot => {
    if (current) return current;
    const made = snapshotOf([...servers.values()], tell);
    current = kept.get(made.version) ?? made;
    kept.delete(current.version);
    kept.set(current.version, current);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value as string);
    return current;
  };
  return {
    current: now,
    of: (version) => (version === undefined ? undefined : kept.get(version)) ?? now(),
    put: (tools) => {
      servers.set(tools.server, tools);
      current = undefined;
    },
  };
}

function snapshotOf(
  servers: readonly ServerTools[],
  onDoubled: (name: string, servers: readonly string[]) => void,
): Snapshot {
  const entries = servers
    .flatMap(({ offered, tools }) =>
      offered.map((one, i) => ({ one, tool: tools[i] as StructuredToolInterface })),
    )
    .sort((a, b) => (a.one.name < b.one.name ? -1 : 1));
  // If tools of two servers get the same name, neither is offered: one could pass for the other.
  const doubled = new Set(
    entries.filter(({ one }, i) => entries[i - 1]?.one.name === one.name).map(({ one }) => one.name),
  );
  for (const name of doubled)
    onDoubled(
      name,
      entries.filter(({ one }) => one.name === name).map(({ one }) => one.server),
    );
  const unique = entries.filter(({ one }) => !doubled.has(one.name));
  const missing = servers
    .filter(({ problem }) => problem !== undefined)
    .map(({ server }) => visibleLine(server))
    .sort();
  const definitions = unique.map(({ tool }) => JSON.stringify(convertToOpenAITool(tool)));
  return {
    version: createHash("sha256")
      .update(JSON.stringify([definitions, missing]))
      .digest("hex")
      .slice(0, 16),
    tools: unique.map(({ tool }) => tool),
    byName: new Map(unique.map(({ one, tool }) => [one.name, tool])),
    index: unique.map(({ one }) => indexed(one)),
    tokens: definitions.reduce((sum, definition) => sum + estimateTokens(definition), 0),
    missing,
  };
}

function indexed({ name, server, description = "", inputSchema }: OfferedTool): IndexedTool {
  const prefix = toolPrefix(server);
  const { properties } = inputSchema as { properties?: object };
  return {
    name,
    short: name.startsWith(prefix) ? name.slice(prefix.length) : name,
    server,
    description,
    parameters: Object.keys(properties ?? {}),
  };
}
