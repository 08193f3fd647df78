/** The options of `deepwright run`, checked. */
import { usageError } from "../command-error.ts";
import type { Detail } from "./progress-view.ts";

/** As the command line gives them. */
export interface RawRunOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly in?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly system?: string;
  readonly timeout?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

export interface RunOptions {
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** The directory to copy from. */
  readonly in: string;
  /** Where changes go; undefined: nowhere. */
  readonly out: string | undefined;
  readonly json: boolean;
  readonly system: string | undefined;
  /** Seconds for the whole run. */
  readonly timeout: number | undefined;
  readonly detail: Detail;
}

/** What `setTimeout` can wait for. */
const MAX_SECONDS = 2_147_483;

export function runOptions(raw: RawRunOptions): RunOptions {
  if (raw.quiet && raw.verbose) throw usageError("--quiet and --verbose exclude each other.");
  for (const [name, value] of Object.entries(raw))
    if (value === "") throw usageError(`--${name.replace(/[A-Z]/, (c) => `-${c.toLowerCase()}`)} is empty.`);
  return {
    model: raw.model,
    baseUrl: raw.baseUrl,
    in: raw.in ?? ".",
    out: raw.out,
    json: raw.json === true,
    system: raw.system,
    timeout: timeoutOf(raw.timeout),
    detail: raw.verbose ? "verbose" : raw.quiet ? "quiet" : "normal",
  };
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw usageError(`--timeout must be a number of seconds above 0, but it is '${text}'.`);
}
