/** Servers, directories and agents for tests of MCP. */

import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { testProgram } from "../../../scripts/test-program.mjs";
import type { Mcp, OpenMcpOptions } from "./mcp-types.ts";
import type { McpNotice } from "./notices.ts";
import { openMcp } from "./open-mcp.ts";
import type { StdioDefinition } from "./servers/definition.ts";

const PROGRAM = await testProgram(new URL("tools-program-for-tests.ts", import.meta.url));

/** The program with all the tools; it writes a line to `log` for each start. */
export function toolsProgram(log = "/dev/null", many = 0): StdioDefinition {
  return {
    command: process.execPath,
    args: [PROGRAM, log, String(many)],
    timeout: 600_000,
  };
}

export async function scratch(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "mcp-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A directory with a `.mcp.json`. */
export async function projectWith(mcpServers: unknown): Promise<string> {
  const directory = await scratch();
  await writeFile(join(directory, ".mcp.json"), JSON.stringify({ mcpServers }));
  return directory;
}

export interface OpenedForTest {
  readonly mcp: Mcp;
  readonly notices: McpNotice[];
  codes(): string[];
}

/** Closed when the test is over. */
export async function opened(options: OpenMcpOptions): Promise<OpenedForTest> {
  const notices: McpNotice[] = [];
  const mcp = await openMcp({ onNotice: (notice) => notices.push(notice), startTimeout: 300, ...options });
  onTestFinished(() => mcp.close());
  return { mcp, notices, codes: () => notices.map(({ code }) => code) };
}

export async function linesOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

/** False for one that nobody has buried yet. */
export async function isAlive(pid: number): Promise<boolean> {
  const facts = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "Z");
  return !/^Z|\) [ZX] /.test(facts);
}
