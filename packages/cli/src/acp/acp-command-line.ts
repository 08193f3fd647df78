/** `deepwright acp`: names and help. Nothing heavy is loaded here. */
import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export const CONFIGURED_EDITORS = ["zed", "jetbrains", "neovim"] as const;
export type ConfiguredEditor = (typeof CONFIGURED_EDITORS)[number];

/** As the command line gives them. */
export interface RawAcpOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly db?: string;
  readonly mode?: string;
  readonly connect?: string;
  /** False with --no-mcp. */
  readonly mcp?: boolean;
  readonly unstable?: boolean;
  readonly printConfig?: ConfiguredEditor;
}

export type AcpHandler = (options: RawAcpOptions) => Promise<ExitCode>;

export function addAcp(program: Command, handler: AcpHandler): void {
  program
    .command("acp")
    .description("be the agent of an editor, over the Agent Client Protocol on stdin and stdout")
    .option("-m, --model <provider:model>", "the model; chosen as for run")
    .option("--base-url <url>", "a server to use instead of the provider's own")
    .option("--db <path|url>", "keep threads in this SQLite file or Postgres database")
    .addOption(
      new Option("--mode <mode>", "what is asked about at first (default: ask)").choices([
        "ask",
        "accept-edits",
        "plan",
        "auto",
      ]),
    )
    .option("--connect <url>", "use a server elsewhere; its token is DEEPWRIGHT_SERVER_TOKEN")
    .option("--no-mcp", "do not use MCP servers of files; those of the editor are used")
    .option("--unstable", "offer session/fork, which the protocol has not settled")
    .addOption(
      new Option("--print-config <editor>", "print what to paste into the settings of an editor").choices([
        ...CONFIGURED_EDITORS,
      ]),
    )
    .action(async (options: RawAcpOptions) => {
      await handler(options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `An editor starts this command. Sessions are the threads of the terminal app: start in the editor, and go on with
deepwright -r in the terminal. Warnings go to stderr, which editors keep in a log.

Examples:
  deepwright acp --print-config zed
  deepwright acp --model anthropic:claude-sonnet-4-6 --print-config jetbrains
  deepwright acp --print-config neovim`;
