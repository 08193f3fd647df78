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
    .description("trust AGENTS.md, skills and settings of a directory")
    .argument("[dir]", "the directory (default: the current one)")
    .option("--yes", "do not ask")
    .option("--list", "list trusted directories")
    .option("--revoke", "revoke the trust")
    .action(async (directory: string | undefined, options: RawTrustOptions) => {
      await handler(directory, options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `Anybody may have written the AGENTS.md and skills of a directory. Until you trust them, an agent reads them as data,
not as instructions. You trust the content: trust.json in DEEPWRIGHT_HOME (default: ~/.deepwright) keeps a hash of each
file. After any change, also by an agent, the directory is data again. The same holds for hooks, servers and rules in
.deepwright/settings.json and settings.local.json. MCP servers of .mcp.json are trusted one by one: deepwright mcp trust.

Examples:
  deepwright trust
  deepwright trust --list
  deepwright trust ../other --revoke`;
