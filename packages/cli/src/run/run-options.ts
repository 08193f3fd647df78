/** The options of `deepwright run`, checked. */
import type { Decision } from "../approval/question.ts";
import { usageError } from "../command-error.ts";
import { type RawSandboxOptions, type SandboxOptions, sandboxOptions } from "../commands/sandbox-kind.ts";
import type { Detail } from "./output/progress-view.ts";
import { amount, type Limits, limitsOf, MAX_SECONDS, type RawLimits } from "./run-limits.ts";

/** As the command line gives them. */
export interface RawRunOptions extends RawLimits, RawSandboxOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly in?: string;
  /** An option of older versions. */
  readonly out?: string | true;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly system?: string;
  readonly timeout?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly thread?: string;
  readonly ephemeral?: boolean;
  readonly db?: string;
  /** False with --no-memory. */
  readonly memory?: boolean;
  /** False with --no-skills. */
  readonly skills?: boolean;
  readonly trust?: boolean;
  /** False with --no-mcp. */
  readonly mcp?: boolean;
  readonly ask?: string;
  readonly yes?: boolean;
  readonly wait?: boolean;
  readonly approve?: boolean;
  readonly reject?: string;
  readonly bestOf?: string;
  readonly check?: string;
  readonly adopt?: boolean;
  readonly at?: string;
}

export interface RunOptions {
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** The directory to work in. */
  readonly in: string;
  /** Changes are shown, not made. */
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly system: string | undefined;
  /** Seconds for the whole run. */
  readonly timeout: number | undefined;
  readonly detail: Detail;
  /** The thread to continue, or the beginning of its id; undefined: a new one. */
  readonly thread: string | undefined;
  /** Nothing is kept. */
  readonly ephemeral: boolean;
  /** Where threads are, if not in their usual place. */
  readonly db: string | undefined;
  /** Whether AGENTS.md files are read. */
  readonly memory: boolean;
  readonly skills: boolean;
  /** Memory and skills of the directory are trusted in this run. */
  readonly trust: boolean;
  /** Whether MCP servers are used. */
  readonly mcp: boolean;
  /** The tools that need a person's approval; undefined: as before in the thread, none for a new one. */
  readonly ask: string | undefined;
  /** All calls are approved. */
  readonly yes: boolean;
  /** If no person can be asked, the thread waits. */
  readonly wait: boolean;
  /** The answer to the waiting question of the thread. */
  readonly answer: Decision | undefined;
  readonly limits: Limits;
  /** Where commands run. */
  readonly sandbox: SandboxOptions;
}

export function runOptions(raw: RawRunOptions): RunOptions {
  if (raw.out !== undefined)
    throw usageError(
      "--out was removed: changes are made in the directory itself.",
      "With --dry-run they are only shown; --in names another directory.",
    );
  if (raw.quiet && raw.verbose) throw usageError("--quiet and --verbose exclude each other.");
  for (const [name, value] of Object.entries(raw))
    if (value === "") throw usageError(`--${name.replace(/[A-Z]/, (c) => `-${c.toLowerCase()}`)} is empty.`);
  if (raw.ephemeral && raw.thread !== undefined)
    throw usageError("--ephemeral and --thread exclude each other.");
  if (raw.ephemeral && raw.db !== undefined) throw usageError("--ephemeral and --db exclude each other.");
  checkApproval(raw);
  for (const name of ["check", "adopt", "at"] as const)
    if (raw[name] !== undefined && raw.bestOf === undefined) throw usageError(`--${name} needs --best-of.`);
  return {
    model: raw.model,
    baseUrl: raw.baseUrl,
    in: raw.in ?? ".",
    dryRun: raw.dryRun === true,
    json: raw.json === true,
    system: raw.system,
    timeout: timeoutOf(raw.timeout),
    detail: raw.verbose ? "verbose" : raw.quiet ? "quiet" : "normal",
    thread: raw.thread,
    ephemeral: raw.ephemeral === true,
    db: raw.db,
    memory: raw.memory !== false,
    skills: raw.skills !== false,
    trust: raw.trust === true,
    mcp: raw.mcp !== false,
    ask: raw.ask,
    yes: raw.yes === true,
    wait: raw.wait === true,
    answer: answerOf(raw),
    limits: limitsOf(raw),
    sandbox: sandboxOptions(raw),
  };
}

function checkApproval(raw: RawRunOptions): void {
  const exclusive = (
    one: keyof RawRunOptions,
    other: keyof RawRunOptions,
    words = "exclude each other",
  ): void => {
    if (raw[one] && raw[other]) throw usageError(`--${one} and --${other} ${words}.`);
  };
  exclusive("yes", "wait");
  exclusive("approve", "reject");
  exclusive("yes", "reject");
  exclusive("wait", "ephemeral", "exclude each other: a thread that is not stored cannot wait");
  if (raw.wait && raw.dryRun)
    throw usageError("--wait and --dry-run exclude each other: a thread that is not stored cannot wait.");
  if ((raw.approve || raw.reject !== undefined) && raw.thread === undefined)
    throw usageError(
      "--approve and --reject answer the questions of a thread.",
      "Name it with --thread. To approve all calls of a new run: --yes.",
    );
}

function answerOf({ approve, reject }: RawRunOptions): Decision | undefined {
  if (approve) return { type: "approve" };
  return reject === undefined ? undefined : { type: "reject", message: reject };
}

function timeoutOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : amount("--timeout", text, "of seconds", MAX_SECONDS);
}
