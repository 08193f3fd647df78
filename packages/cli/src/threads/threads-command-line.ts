/** `deepwright threads`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { RawSandboxOptions } from "../commands/sandbox-kind.ts";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them; each action knows its own. */
export interface RawThreadsOptions extends RawSandboxOptions {
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
  readonly snapshots?: boolean;
  readonly erase?: boolean;
  readonly faults?: boolean;
  readonly path?: string;
  readonly call?: string;
  readonly agent?: string;
  readonly step?: string;
  readonly since?: string;
  readonly from?: string;
  readonly timeout?: string;
  readonly diff?: boolean;
  readonly permissions?: string;
}

export type ThreadsAction =
  | "list"
  | "show"
  | "delete"
  | "copy"
  | "rename"
  | "diff"
  | "rewind"
  | "restore"
  | "blame"
  | "bisect"
  | "compare"
  | "adopt"
  | "du"
  | "rehearse"
  | "export"
  | "import"
  | "to-test"
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
  addTesting(add);
  addCosts(add);
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
  add("blame", "<thread> <file>", "show which step wrote each line of a file").option(
    "--in <dir>",
    "the directory that the file is in (default: the current one)",
  );
}

function addTesting(add: Add): void {
  add("bisect", "<thread> <command...>", "find the step after which a command fails")
    .option("--from <step>", "search behind this step (default: the first change)")
    .option("--to <step>", "search up to this step (default: the newest)")
    .option("--in <dir>", "the directory to copy; it is only read (default: the current one)")
    .option(
      "--sandbox <kind>",
      "where the command runs: os (default), docker or docker:IMAGE; none: not isolated",
    )
    .option("--timeout <seconds>", "the most time for one run of the command (default: 600)")
    .addHelpText("after", `\n${BISECT}`);
  add("compare", "<thread...>", "put threads beside each other: answer, files, check, tokens, cost and time")
    .option("--diff", "also show what each of them changed")
    .option("--in <dir>", "the directory of threads that are no forks (default: the current one)");
}

const BISECT = `The command runs in copies of the directory, in the sandbox. Put -- before it.
Exit codes: 0 the step was found; 1 the command succeeds after the last step, fails before the first
one, or cannot be run; 2 wrong usage; 130 interrupted.`;

function addCosts(add: Add): void {
  add("du", "", "show how much space threads and their snapshots take, the largest first")
    .option("-n, --limit <number>", "the maximum number (default: 20)")
    .option("--all", "list all threads")
    .option("--cwd [directory]", "only threads of this directory (default: the current one)");
  add("rehearse", "", "list the calls of past threads that other rules would decide differently")
    .option("--permissions <file>", "a JSON file with the settings `permissions`, `commands` and `budget`")
    .option("--in <dir>", "the directory of the threads (default: the current one)");
}

function addChanging(add: Add): void {
  add("adopt", "<fork>", "make the changes of a fork in the directory, by a three-way merge")
    .option("--in <dir>", "the directory that gets the changes (default: the current one)")
    .option("--dry-run", "show what would change, as a diff")
    .option("-y, --yes", "do not ask");
  add("rewind", "<thread> <step>", "restore messages and files as they were after a step")
    .option("--in <dir>", "the directory whose files are restored (default: the current one)")
    .option("--dry-run", "show what would change, as a diff")
    .option("-y, --yes", "do not ask");
  add("restore", "<thread>", "undo a part of what a thread did to files; messages stay")
    .option("--path <path>", "only this file, or this directory")
    .option("--call <id>", "only this tool call; `blame` and a restore print ids")
    .option("--agent <name>", "only this subagent, by its name or the id of its task")
    .option("--step <step>", "only this step")
    .option("--since <step>", "everything after this step")
    .option("--in <dir>", "the directory whose files are restored (default: the current one)")
    .option("--dry-run", "show what would change, as a diff")
    .option("-y, --yes", "do not ask");
  add("rename", "<thread> <title...>", "give a thread a title");
  add("delete", "<thread...>", "remove threads and their content").option("-y, --yes", "do not ask");
  add("prune", "", "remove old steps; the newest state of every thread stays")
    .option("--keep-latest <number>", "keep this many of the newest steps")
    .option("--older-than <age>", "remove steps older than this: 30d, 12h, 90m")
    .option("--max-bytes <size>", "remove the oldest steps until all content fits: 500m, 1g")
    .option("--snapshots", "remove only snapshots of directories; steps and messages stay")
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
  add("to-test", "<thread> [directory]", "write a thread as a cassette, with a vitest file that replays it")
    .option("--faults", "add tests with a refused request, a cut stream, a killed tool and a crash")
    .option("-f, --force", "replace existing files");
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
  deepwright threads restore 3f2a --path src --dry-run
  deepwright threads blame 3f2a src/main.ts
  deepwright threads bisect 3f2a -- npm test
  deepwright threads compare 3f2a 7c1e --diff
  deepwright threads adopt 7c1e --dry-run
  deepwright threads rehearse --permissions rules.json
  deepwright threads export 3f2a thread.jsonl
  deepwright threads to-test 3f2a tests --faults
  deepwright threads prune --older-than 30d --yes
  deepwright threads move --to postgres://user@host/database`;
