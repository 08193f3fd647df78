/** `deepwright mcp`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them; each action knows its own. */
export interface RawMcpOptions {
  readonly in?: string;
  readonly json?: boolean;
  readonly tools?: boolean;
  readonly yes?: boolean;
  readonly db?: string;
  readonly model?: string;
  readonly baseUrl?: string;
}

export type McpAction = "list" | "trust" | "untrust" | "serve";

export type McpHandler = (
  action: McpAction,
  words: readonly string[],
  options: RawMcpOptions,
) => Promise<ExitCode>;

export function addMcp(program: Command, handler: McpHandler): void {
  const mcp = program
    .command("mcp")
    .description("tools of MCP servers, and agents as an MCP server")
    .addHelpText("after", `\n${HELP}`);
  const add = (action: McpAction, words: string, description: string): Command =>
    mcp
      .command(`${action} ${words}`.trim())
      .description(description)
      .action(async (...given: unknown[]) => {
        const options = given.at(-2) as RawMcpOptions;
        const names = given
          .slice(0, -2)
          .flat()
          .filter((word) => typeof word === "string");
        await handler(action, names, options);
      });
  const directory = ["--in <dir>", "the directory whose .mcp.json it is (default: the current one)"] as const;
  add("list", "", "show the servers of this directory and your own, and which may be used")
    .option(...directory)
    .option("--tools", "start those that may be used, and show their tools")
    .option("--json", "print the result as JSON");
  add(
    "trust",
    "[name...]",
    "agree to servers of this directory, exactly as they are defined now, and to tools that changed",
  )
    .option(...directory)
    .option("--yes", "do not ask");
  add("untrust", "<name...>", "take that back").option(...directory);
  add("serve", "[file]", "offer agents as tools, on stdin and stdout")
    .option("--db <path|url>", "keep threads and runs in this SQLite file or Postgres database")
    .option("-m, --model <provider:model>", "the model of the CLI's own agent; chosen as for run")
    .option("--base-url <url>", "a server to use instead of the provider's own");
}

const HELP = `Your own servers are in mcp.json in DEEPWRIGHT_HOME (default: ~/.deepwright), those of a project in its .mcp.json:
  { "mcpServers": { "files": { "command": "npx", "args": ["-y", "some-server"] },
                    "docs": { "type": "http", "url": "https://example.com/mcp" } } }

A server of a project is not started before you agreed to it; one that was changed is asked about again. Of two with
one name your own counts. A tool that its server describes in other words than before is left out until 'mcp trust', which
shows what changed.

'mcp serve' serves what 'serve' would: the agents of a file, else the CLI's own agent. Also at /mcp of 'serve'.

Examples:
  deepwright mcp list --tools
  deepwright mcp trust files
  deepwright mcp serve deepwright.config.ts`;
