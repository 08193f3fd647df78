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
    .description("use tools of MCP servers, or offer agents as an MCP server")
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
  const directory = ["--in <dir>", "the directory with the .mcp.json (default: the current one)"] as const;
  add("list", "", "list the servers of this directory and your own, and whether they may be used")
    .option(...directory)
    .option("--tools", "start the allowed servers and show their tools")
    .option("--json", "print the result as JSON");
  add(
    "trust",
    "[name...]",
    "agree to servers of this directory as they are defined now, and to changed tools",
  )
    .option(...directory)
    .option("--yes", "do not ask");
  add("untrust", "<name...>", "revoke the trust in servers").option(...directory);
  add("serve", "[file]", "offer agents as tools, on stdin and stdout")
    .option("--db <path|url>", "store threads and runs in this SQLite file or Postgres database")
    .option("-m, --model <provider:model>", "the model of the CLI's own agent; chosen as for run")
    .option("--base-url <url>", "a server to use instead of the provider's own");
}

const HELP = `Your own servers are in mcp.json in DEEPWRIGHT_HOME (default: ~/.deepwright), servers of a project in its .mcp.json:
  { "mcpServers": { "files": { "command": "npx", "args": ["-y", "some-server"] },
                    "docs": { "type": "http", "url": "https://example.com/mcp" } } }

A server of a project starts only after you agreed to it, and again after each change. If two servers have one name,
your own is used. If a server changes the description of a tool, the tool is left out until 'mcp trust', which shows
the change.

'mcp serve' offers the agents of 'serve': those of a file, else the CLI's own agent. 'serve' also offers them at /mcp.

Examples:
  deepwright mcp list --tools
  deepwright mcp trust files
  deepwright mcp serve deepwright.config.ts`;
