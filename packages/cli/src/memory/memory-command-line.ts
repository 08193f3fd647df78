/** `deepwright memory`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them. */
export interface RawMemoryOptions {
  readonly since?: string;
  readonly all?: boolean;
  readonly in?: string;
  readonly db?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly timeout?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

export type MemoryHandler = (options: RawMemoryOptions) => Promise<ExitCode>;

export function addMemory(program: Command, handler: MemoryHandler): void {
  program
    .command("memory")
    .description("manage what agents remember between threads")
    .command("consolidate")
    .description("review recent threads and update AGENTS.md of the directory")
    .option("--since <age>", "ignore older threads: 6h, 7d (reviewed threads are always ignored)")
    .option("--all", "review threads of all directories")
    .option("--in <dir>", "the directory with the AGENTS.md (default: the current one)")
    .option("--db <path|url>", "the SQLite file or Postgres database with the threads")
    .option("-m, --model <provider:model>", "the model; chosen as for run")
    .option("--base-url <url>", "a server to use instead of the provider's own")
    .option("--timeout <seconds>", "stop after this time")
    .option("--dry-run", "show the changes and write nothing")
    .option("--json", "print the report as JSON")
    .option("-q, --quiet", "show only warnings and errors")
    .option("-v, --verbose", "show tool calls and results in full")
    .action(async (options: RawMemoryOptions) => {
      await handler(options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `It reviews only threads with new messages since the last review, and changes only AGENTS.md. A diff of every change is
in memory_history in DEEPWRIGHT_HOME (default: ~/.deepwright). A file that lost more than half of its lines is restored.
If another consolidation is running, the command ends.

Exit codes:
  0 done, or nothing new; 1 failed, or a change was refused; 2 wrong usage; 3 a limit was reached;
  130 interrupted; 143 terminated

Examples:
  deepwright memory consolidate --dry-run
  deepwright memory consolidate --since 7d --model anthropic:claude-sonnet-4-6
  0 */6 * * *  cd /path/to/project && deepwright memory consolidate --quiet    # a line for crontab -e`;
