/** The options of `deepwright run`, checked. */
import { usageError } from "../command-error.ts";
import type { Detail } from "./progress-view.ts";

/** As the command line gives them. */
export interface RawRunOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly in?: string;
  /** Of older versions. */
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
  /** The thread to go on with, or the beginning of its id; undefined: a new one. */
  readonly thread: string | undefined;
  /** Nothing is kept. */
  readonly ephemeral: boolean;
  /** Where threads are, if not in their usual place. */
  readonly db: string | undefined;
  /** Whether AGENTS.md files are read. */
  readonly memory: boolean;
  readonly skills: boolean;
}

/** What `setTimeout` can wait for. */
const MAX_SECONDS = 2_147_483;

export function runOptions(raw: RawRunOptions): RunOptions {
  if (raw.out !== undefined)
    throw usageError(
      "There is no --out any more: changes are made in the directory itself.",
      "With --dry-run they are only shown; --in names another directory.",
    );
  if (raw.quiet && raw.verbose) throw usageError("--quiet and --verbose exclude each other.");
  for (const [name, value] of Object.entries(raw))
    if (value === "") throw usageError(`--${name.replace(/[A-Z]/, (c) => `-${c.toLowerCase()}`)} is empty.`);
  if (raw.ephemeral && raw.thread !== undefined)
    throw usageError("--ephemeral and --thread exclude each other.");
  if (raw.ephemeral && raw.db !== undefined) throw usageError("--ephemeral and --db exclude each other.");
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
  };
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw usageError(`--timeout must be a number of seconds above 0, but it is '${text}'.`);
}
