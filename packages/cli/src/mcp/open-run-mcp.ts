/**
 * The MCP servers of a run or of the CLI's own served agent: the user's servers, and the trusted servers of the
 * directory.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KnownServer, Mcp, McpNotice, TrustRequest } from "@deepwright/mcp";
import { CommandError, usageError } from "../command-error.ts";
import { quoted } from "../commands/thread-sandbox.ts";
import { homeOf } from "../state/home.ts";
import { count } from "../terminal/amounts.ts";
import { confirmed } from "../terminal/confirm.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { definitionLines } from "./definition-lines.ts";

export interface RunMcpRequest {
  /** Its real path. */
  readonly directory: string;
  readonly console: Console;
  /** A person can be asked. */
  readonly isAttended: boolean;
  readonly isQuiet: boolean;
  readonly signal?: AbortSignal;
  /** Servers of trusted settings, by name. */
  readonly servers?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Loads nothing and returns undefined if no file names a server. Throws if a server needs an answer and no person can
 * be asked.
 */
export async function openRunMcp(request: RunMcpRequest): Promise<Mcp | undefined> {
  const { directory, console, isAttended, isQuiet, signal, servers = {} } = request;
  const home = homeOf(process.env);
  if (!hasDefinitions(directory, home) && Object.keys(servers).length === 0) return undefined;
  const { knownServers, openMcp } = await import("@deepwright/mcp");
  try {
    const sources = { project: directory, home, servers };
    if (!isAttended) refuseUntrusted(await knownServers(sources));
    const trust = (asked: TrustRequest): Promise<boolean> => agreed(asked, console);
    const onNotice = (notice: McpNotice): void => say(notice, console, isQuiet);
    const mcp = await openMcp({ ...sources, trust, onNotice, ...(signal && { signal }) });
    const line = mcpLine(mcp);
    if (line !== undefined && !isQuiet) console.line(console.colours.dim(line));
    return mcp;
  } catch (error) {
    if ((error as { name?: string }).name !== "ConfigurationError") throw error;
    throw new CommandError(safeLine((error as Error).message, 1_000), { cause: error });
  }
}

/**
 * Files of the directory that trusted servers run or read, relative to it. They matter for a run without servers too,
 * because a changed file would run in a later one. A file of definitions that cannot be read names none.
 */
export async function controlPathsIn(directory: string): Promise<readonly string[]> {
  const home = homeOf(process.env);
  if (!hasDefinitions(directory, home)) return [];
  const { controlPathsOf, knownServers } = await import("@deepwright/mcp");
  try {
    return controlPathsOf(await knownServers({ project: directory, home }));
  } catch (error) {
    if ((error as { name?: string }).name !== "ConfigurationError") throw error;
    return [];
  }
}

function hasDefinitions(directory: string, home: string): boolean {
  return existsSync(join(directory, ".mcp.json")) || existsSync(join(home, "mcp.json"));
}

/** Servers run programs or receive data, and the directory's `.mcp.json` may come from anyone. */
function refuseUntrusted(known: readonly KnownServer[]): void {
  const refused = known.filter(({ trusted, definition }) => !trusted && !definition.disabled);
  const names = refused.map(({ name }) => safeLine(name, 80));
  if (names.length === 0) return;
  const changed = refused.flatMap(({ changed }) => changed.map(({ path }) => safeLine(path, 120)));
  const files = changed.length > 0 ? ` Changed since you agreed: ${[...new Set(changed)].join(", ")}.` : "";
  throw usageError(
    `.mcp.json names MCP servers that you have not agreed to as they are now: ${names.join(", ")}.${files}`,
    `Look at them with 'deepwright mcp list', then: deepwright mcp trust ${names.join(" ")}. Without them: --no-mcp.`,
  );
}

async function agreed(asked: TrustRequest, console: Console): Promise<boolean> {
  console.line(console.colours.bold(`? The MCP server '${safeLine(asked.name, 80)}' of this directory`));
  for (const line of definitionLines(asked, console.width)) console.line(line);
  return confirmed("Use it from now on?", process);
}

/** Notices that are not warnings. */
const GOOD: ReadonlySet<string> = new Set(["RECONNECTED"]);

function say({ code, server, message: said }: McpNotice, console: Console, isQuiet: boolean): void {
  const how = code === "TOOL_CHANGED" ? ` What changed: deepwright mcp trust ${quoted(server)}` : "";
  const message = said + how;
  if (GOOD.has(code)) {
    if (!isQuiet) console.line(console.colours.dim(safeLine(message, 500)));
  } else console.line(console.colours.yellow(`Warning: ${safeLine(message, 500)}`));
}

function mcpLine({ servers }: Mcp): string | undefined {
  const words = servers
    .filter(({ tools }) => tools.length > 0)
    .map(({ name, tools }) => `${safeLine(name, 80)} (${count(tools.length, "tool")})`);
  return words.length > 0 ? `MCP: ${words.join(", ")}` : undefined;
}
