/** `deepwright threads`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them; each action knows its own. */
export interface RawThreadsOptions {
  readonly db?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly limit?: string;
  readonly all?: boolean;
  /** True: the current directory. */
  readonly cwd?: string | true;
  readonly to?: string;
  /** The directory whose files may be restored; absent: the current one. */
  readonly in?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly as?: string;
  readonly thread?: string;
  readonly keepLatest?: string;
  readonly olderThan?: string;
  readonly maxBytes?: string;
  readonly erase?: boolean;
}

export type ThreadsAction =
  | "list"
  | "show"
  | "delete"
  | "copy"
  | "rename"
  | "diff"
  | "rewind"
  | "export"
  | "import"
  | "prune"
  | "backup"
  | "move";

export type ThreadsHandler = (
  action: ThreadsAction,
  words: readonly string[],
  options: RawThreadsOptions,
) => Promise<ExitCode>;

export function addThreads(program: Command, handler: ThreadsHandler): void {
  const threads = program
    .command("threads")
    .description("list, inspect, undo, move and remove the threads of runs")
    .addHelpText("after", `\n${HELP}`);
  const add = (action: ThreadsAction, words: string, description: string): Command =>
    threads
      .command(`${action} ${words}`.trim())
      .description(description)
      .option("--db <path|url>", "the SQLite file or Postgres database to use")
      .option("--json", "print the result as JSON")
      .action(async (...given: unknown[]) => {
        const options = given.at(-2) as RawThreadsOptions;
        await handler(action, given.slice(0, -2).flat().filter(isText), options);
      });
  addReading(add);
  addChanging(add);
  addMoving(add);
}

type Add = (action: ThreadsAction, words: string, description: string) => Command;

function addReading(add: Add): void {
  add("list", "", "list threads, newest first")
    .option("-n, --limit <number>", "the maximum number (default: 20)")
    .option("--all", "list all threads")
    .option("--cwd [directory]", "only threads of this directory (default: the current one)");
  add("show", "<thread>", "show a thread and its steps");
  add("diff", "<thread> <step>", "show the file changes of a step").option(
    "--to <step>",
    "compare with this step instead of the one before",
  );
}

function addChanging(add: Add): void {
  add("rewind", "<thread> <step>", "restore messages and files as they were after a step")
    .option("--in <dir>", "the directory whose files are restored (default: the current one)")
    .option("--dry-run", "show what would change")
    .option("-y, --yes", "do not ask");
  add("rename", "<thread> <title...>", "give a thread a title");
  add("delete", "<thread...>", "remove threads and their content").option("-y, --yes", "do not ask");
  add("prune", "", "remove old steps; the newest state of every thread stays")
    .option("--keep-latest <number>", "keep this many of the newest steps")
    .option("--older-than <age>", "remove steps older than this: 30d, 12h, 90m")
    .option("--max-bytes <size>", "remove the oldest steps until all content fits: 500m, 1g")
    .option("--thread <thread>", "prune only this thread")
    .option("--erase", "rewrite the file, so that no deleted data stays in it")
    .option("-y, --yes", "do not ask");
}

function addMoving(add: Add): void {
  add("copy", "<thread> <new-id>", "make a second thread with the same history");
  add("export", "<thread> [file]", "write a thread to a file, or to stdout").option(
    "-f, --force",
    "replace an existing file",
  );
  add("import", "<file>", "read a thread from a file, or - for stdin").option(
    "--as <id>",
    "the id for the imported thread",
  );
  add("backup", "<file>", "copy the whole database while others use it");
  add("move", "", "copy all threads into another database; the threads here stay").requiredOption(
    "--to <path|url>",
    "the SQLite file or Postgres database that receives them",
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

const HELP = `A thread is named by its id or the beginning of it, a step by its number in \`show\` or by a checkpoint id.
Threads are in state.db in DEEPWRIGHT_HOME (default: ~/.deepwright); --db or DEEPWRIGHT_DB names another database.

Examples:
  deepwright threads list --cwd
  deepwright threads diff 3f2a 5
  deepwright threads rewind 3f2a 5 --dry-run
  deepwright threads export 3f2a thread.jsonl
  deepwright threads prune --older-than 30d --yes
  deepwright threads move --to postgres://user@host/database`;
