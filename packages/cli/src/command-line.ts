/** The command line: names, help and the errors of using it. Nothing heavy is loaded here. */
import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { type AcpHandler, addAcp } from "./acp/acp-command-line.ts";
import { type AppHandler, addApp, withApp } from "./app/app-command-line.ts";
import { addCompletion, type CompletionHandler } from "./completion/completion-command-line.ts";
import { addDoctor, type DoctorHandler } from "./doctor/doctor-command-line.ts";
import { addEval, type EvalHandler } from "./eval/eval-command-line.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { addLogin, type LoginHandler } from "./login/login-command-line.ts";
import { addMcp, type McpHandler } from "./mcp/mcp-command-line.ts";
import { addMemory, type MemoryHandler } from "./memory/memory-command-line.ts";
import { addModels, type ModelsHandler } from "./models/models-command-line.ts";
import { addPair, type PairHandler } from "./pair/pair-command-line.ts";
import type { RawRunOptions } from "./run/run-options.ts";
import { addServe, type ServeHandler } from "./serve/serve-command-line.ts";
import { addConfig, type ConfigHandler } from "./settings/config-command-line.ts";
import { addSignIn, type SignInHandler } from "./sign-in/sign-in-command-line.ts";
import { safeText } from "./terminal/safe-text.ts";
import { addThreads, type ThreadsHandler } from "./threads/threads-command-line.ts";
import { addTrust, type TrustHandler } from "./trust/trust-command-line.ts";

/** The commands' work; loaded when one is called. */
export interface Handlers {
  readonly app: AppHandler;
  run(words: readonly string[], options: RawRunOptions): Promise<ExitCode>;
  readonly threads: ThreadsHandler;
  readonly memory: MemoryHandler;
  readonly serve: ServeHandler;
  readonly acp: AcpHandler;
  readonly signIn: SignInHandler;
  readonly pair: PairHandler;
  readonly mcp: McpHandler;
  readonly trust: TrustHandler;
  readonly config: ConfigHandler;
  readonly models: ModelsHandler;
  readonly login: LoginHandler;
  readonly doctor: DoctorHandler;
  readonly eval: EvalHandler;
  readonly completion: CompletionHandler;
}

/** Runs the command `argv` names (without the program's own name) and returns the exit code. `manifest` names the version. */
export async function commandLine(
  argv: readonly string[],
  handlers: Partial<Handlers>,
  manifest = new URL("../package.json", import.meta.url),
): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const program = createProgram(
    noting(handlers, (ended) => {
      code = ended;
    }),
    manifest,
  );
  try {
    const words =
      argv[0] === "-v" ? ["--version"] : withApp(argv, process.stdin.isTTY && process.stdout.isTTY);
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (
      error.code === "commander.unknownCommand" &&
      !GROUPS.has(argv[0] ?? "") &&
      !error.message.includes("Did you mean")
    )
      process.stderr.write(`For a task: deepwright run ${taskWords(argv)}\n`);
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

/** Commands that have commands of their own. */
const GROUPS: ReadonlySet<string> = new Set(["threads", "memory", "mcp", "config"]);

const MAX_TASK_SHOWN = 60;

/** The words before the first option, as one task; text that would need more than quotes is left to the reader. */
function taskWords(argv: readonly string[]): string {
  const end = argv.findIndex((word) => word.startsWith("-"));
  const words = argv.slice(0, end === -1 ? undefined : end).join(" ");
  return /["$`\\!\p{Cc}]/u.test(words) || words.length > MAX_TASK_SHOWN ? '"…"' : `"${safeText(words)}"`;
}

/** Wraps the handlers so that each passes its exit code to `note`. */
function noting(handlers: Partial<Handlers>, note: (code: ExitCode) => void): Handlers {
  const noted = Object.entries(handlers).map(([name, handle]) => [
    name,
    async (...request: unknown[]) => {
      const code = await (handle as (...given: unknown[]) => Promise<ExitCode>)(...request);
      note(code);
      return code;
    },
  ]);
  return Object.fromEntries(noted);
}

function createProgram(handlers: Handlers, manifest: URL): Command {
  const program = new Command("deepwright")
    .description("A deep agent in your terminal: it plans, works with files and reports.")
    .version(versionText(manifest), "-V, --version", "print the version")
    .helpOption("-h, --help", "show this help")
    .configureOutput({
      outputError: (text, write) => write(`deepwright: ${safeText(text.replace(/^error: /, ""))}`),
    })
    .showHelpAfterError("Run with --help to see the usage.")
    .exitOverride();
  addApp(program, handlers.app);
  addRun(program, handlers.run);
  addThreads(program, handlers.threads);
  addMemory(program, handlers.memory);
  addServe(program, handlers.serve);
  addAcp(program, handlers.acp);
  addSignIn(program, handlers.signIn);
  addPair(program, handlers.pair);
  addMcp(program, handlers.mcp);
  addTrust(program, handlers.trust);
  addConfig(program, handlers.config);
  addModels(program, handlers.models);
  addLogin(program, handlers.login);
  addDoctor(program, handlers.doctor);
  addEval(program, handlers.eval);
  addCompletion(program, handlers.completion);
  program.addHelpText("after", `\n${EXAMPLES}`);
  return program;
}

function addRun(program: Command, handler: Handlers["run"]): void {
  program
    .command("run")
    .description("run an agent on a task")
    .argument(
      "[task...]",
      "the task; - or a pipe without a task reads it from stdin; with a task, stdin is added to it",
    )
    .option(
      "-m, --model <provider:model>",
      "the model, e.g. anthropic:claude-sonnet-4-6, ollama:qwen3, offline",
    )
    .option("--base-url <url>", "a server to use instead of the provider's own")
    .option("--in <dir>", "the directory to work in (default: the current one)")
    .option("--dry-run", "show changes as diffs and write nothing")
    .addOption(new Option("--out [dir]").hideHelp())
    .option("--json", "print the stream as JSON, one part per line")
    .option("--system <text>", "instructions for the agent, before its own")
    .option("--timeout <seconds>", "stop the whole run after this time")
    .option("--max-steps <number>", "stop after this many model calls, subagents included")
    .option("--max-cost <dollars>", "stop before the cost exceeds this amount")
    .option("--max-tokens <number>", "stop before this many tokens, in and out, are used")
    .option(
      "--max-seconds <seconds>",
      "stop after this much working time; waiting for a person does not count",
    )
    .option(
      "--ask <tools>",
      "ask before these tools run: names with commas, changes, all or none; the thread remembers it",
    )
    .option(
      "--sandbox <kind>",
      "where commands run: os (default), docker or docker:IMAGE, modal, runloop, daytona, langsmith, agentcore, e2b; none: not isolated; off: no commands",
    )
    .option(
      "--allow-host <host>",
      "let commands in the os sandbox reach this host; may be repeated",
      collected,
    )
    .option("--yes", "approve every call without asking, commands included")
    .option("--wait", "do not ask: leave the thread waiting for approval, and exit with 4")
    .option("--approve", "approve the waiting calls of the thread (with --thread)")
    .option("--reject <reason>", "reject the waiting calls of the thread (with --thread)")
    .option("-q, --quiet", "show only the answer, warnings and errors")
    .option("-v, --verbose", "show tool calls and results in full")
    .option("--thread <id>", "continue a thread (id or its beginning); without a task: resume its last run")
    .option("--best-of <number>", "make this many attempts at once, each on a copy of the directory")
    .option("--check <command>", "with --best-of: the command that an attempt must pass, e.g. npm test")
    .option("--adopt", "with --best-of: make the changes of the best attempt in the directory without asking")
    .option("--at <step>", "with --best-of and --thread: fork from this step of the thread")
    .option("--no-memory", "do not read AGENTS.md")
    .option("--no-skills", "do not look for skills")
    .option("--trust", "follow AGENTS.md and skills of the directory in this run, as they are now")
    .option("--no-mcp", "do not use MCP servers")
    .option("--ephemeral", "store nothing: the thread ends with the run")
    .option("--db <path|url>", "store threads in this SQLite file or Postgres database")
    .action(async (words: string[], options: RawRunOptions) => {
      await handler(words, options);
    })
    .addHelpText("after", `\n${EXAMPLES}\n\n${EXIT_CODES}`);
}

/** Collects the values of a repeatable option. */
function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

const EXAMPLES = `Examples:
  deepwright
  deepwright -c
  deepwright run "Summarise this project in report.md"
  deepwright run "Rename parse to read everywhere" --dry-run
  deepwright run "Find unclear function names" --model openai:gpt-5.4 > answer.md
  git diff | deepwright run "Review this change" --quiet
  deepwright run "List the open questions" --json | jq -c .type
  deepwright run --thread 3f2a "Now shorten it"
  deepwright run "Tidy the imports" --ask changes --max-cost 2
  deepwright run "Make the tests pass" --yes
  deepwright run --best-of 3 --check "npm test" --yes "Make the tests pass"`;

const EXIT_CODES = `Exit codes:
  0 done, 1 failed, 2 wrong usage, 3 a limit was reached,
  4 approval is missing: the thread waits for it, or calls were denied because nobody was there,
  5 completion checks failed, 130 interrupted, 143 terminated

Model: --model, DEEPWRIGHT_MODEL, --base-url or DEEPWRIGHT_BASE_URL, then the first key found
(ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_API_KEY), then Ollama or OPENAI_BASE_URL, else the
offline model, which is not an LLM.`;

function versionText(manifest: URL): string {
  const text = readFileSync(manifest, "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
