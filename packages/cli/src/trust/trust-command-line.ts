/** `deepwright trust`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them. */
export interface RawTrustOptions {
  readonly yes?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
}

export type TrustHandler = (directory: string | undefined, options: RawTrustOptions) => Promise<ExitCode>;

export function addTrust(program: Command, handler: TrustHandler): void {
  program
    .command("trust")
    .description("let AGENTS.md, skills and settings of a directory count")
    .argument("[dir]", "the directory (default: the current one)")
    .option("--yes", "do not ask")
    .option("--list", "show the directories that are trusted")
    .option("--revoke", "take it back")
    .action(async (directory: string | undefined, options: RawTrustOptions) => {
      await handler(directory, options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `AGENTS.md and skills of a directory are text that anybody may have written. Until you trust them, and again when
they changed (also when an agent changed them), an agent reads them as data and not as instructions. What you trust
is the content: a hash of each file is kept in trust.json in DEEPWRIGHT_HOME (default: ~/.deepwright). The same holds for
what .deepwright/settings.json and settings.local.json run or allow: hooks, servers, rules. MCP servers of .mcp.json are
trusted one by one: deepwright mcp trust.

Examples:
  deepwright trust
  deepwright trust --list
  deepwright trust ../other --revoke`;
