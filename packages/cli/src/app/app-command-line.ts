/** `deepwright` without a command: names and help. Nothing heavy is loaded here. */
import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them. */
export interface RawAppOptions {
  readonly continue?: boolean;
  /** True without an id. */
  readonly resume?: string | true;
  readonly connect?: string;
  /** An agent of the server. */
  readonly agent?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly in?: string;
  readonly db?: string;
  readonly mode?: string;
  readonly theme?: string;
  readonly plain?: boolean;
  /** False with --no-mcp. */
  readonly mcp?: boolean;
}

export type AppHandler = (options: RawAppOptions) => Promise<ExitCode>;

/** The name of the command that stands for none. */
export const APP = "chat";

/** Words that are for the program itself. */
const OF_PROGRAM: ReadonlySet<string> = new Set(["-h", "--help", "-V", "--version"]);

/** The same words, with the name of the app before options that name no command. Without a terminal no words mean help. */
export function withApp(argv: readonly string[], isTerminal: boolean): readonly string[] {
  const [first] = argv;
  if (first === undefined) return isTerminal ? [APP] : argv;
  return first.startsWith("-") && !OF_PROGRAM.has(first) ? [APP, ...argv] : argv;
}

export function addApp(program: Command, handler: AppHandler): void {
  program
    .command(APP)
    .description("open a session in the terminal; the same as no command at all")
    .option("-c, --continue", "go on with the last thread of this directory")
    .option("-r, --resume [id]", "choose a thread to go on with")
    .option("--connect <url>", "use a server elsewhere; its token is DEEPWRIGHT_SERVER_TOKEN")
    .option("--agent <name>", "with --connect: the agent to talk to, where the server has several")
    .option("-m, --model <provider:model>", "the model; chosen as for run")
    .option("--base-url <url>", "a server to use instead of the provider's own")
    .option("--in <dir>", "the directory to work in (default: the current one)")
    .option("--db <path|url>", "keep threads in this SQLite file or Postgres database")
    .addOption(
      new Option("--mode <mode>", "what is asked about (default: ask)").choices([
        "ask",
        "accept-edits",
        "plan",
        "auto",
      ]),
    )
    .addOption(
      new Option("--theme <name>", "colours (default: by the background)").choices(["dark", "light"]),
    )
    .option("--plain", "lines instead of a screen, for screen readers and simple terminals")
    .option("--no-mcp", "do not use MCP servers")
    .action(async (options: RawAppOptions) => {
      await handler(options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `In the app: Enter sends, Alt-Enter or Shift-Enter is a new line, Esc stops, Ctrl-C twice leaves, /help shows the rest.

Examples:
  deepwright
  deepwright -c
  deepwright --mode plan -m anthropic:claude-sonnet-4-6
  deepwright --connect http://127.0.0.1:2024`;
