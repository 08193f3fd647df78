/** The options of `deepwright run --best-of`, checked. */
import { usageError } from "../command-error.ts";
import { isCloud, type SandboxOptions, sandboxOptions } from "../commands/sandbox-kind.ts";
import { limitsOf } from "../run/run-limits.ts";
import { type RawRunOptions, runOptions } from "../run/run-options.ts";
import { stepOf } from "../threads/amounts.ts";

export interface BestOfOptions {
  readonly attempts: number;
  readonly check: string | undefined;
  readonly adopt: boolean;
  readonly directory: string;
  readonly isQuiet: boolean;
  readonly json: boolean;
  /** The thread that the attempts go on with, and from which step. */
  readonly thread: string | undefined;
  readonly step: number | string | undefined;
  readonly db: string | undefined;
  readonly sandbox: SandboxOptions;
  /** Options of each attempt, as words of a command line. */
  readonly words: readonly string[];
}

const MOST = 8;
/** Each of these makes no sense for a run in a copy that nobody attends. */
const EXCLUDED = ["dryRun", "ephemeral", "wait", "approve", "reject", "verbose"] as const;

export function bestOfOptions(raw: RawRunOptions): BestOfOptions {
  const attempts = Number(raw.bestOf);
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > MOST)
    throw usageError(`--best-of must be a whole number from 1 to ${MOST}, but it is '${raw.bestOf}'.`);
  for (const name of EXCLUDED)
    if (raw[name] !== undefined)
      throw usageError(`--best-of and --${name === "dryRun" ? "dry-run" : name} exclude each other.`);
  if (raw.adopt && raw.check === undefined)
    throw usageError("--adopt needs --check: without a check no attempt is the best.");
  if (raw.at !== undefined && raw.thread === undefined) throw usageError("--at needs --thread.");
  const sandbox = sandboxOptions(raw);
  if (isCloud(sandbox.kind))
    throw usageError(
      `--best-of works on copies on this machine: give --sandbox os, docker, none or off, not ${sandbox.kind}.`,
    );
  if (sandbox.kind === "off" && raw.check !== undefined)
    throw usageError("--check runs a command, and with --sandbox off there are none.");
  const options = runOptions(raw);
  return {
    attempts,
    check: raw.check,
    adopt: raw.adopt === true,
    directory: options.in,
    isQuiet: options.detail === "quiet",
    json: options.json,
    thread: options.thread,
    step: raw.at === undefined ? undefined : stepOf(raw.at),
    db: options.db,
    sandbox,
    words: wordsOf(raw, attempts),
  };
}

/** MCP servers act outside the copy, so attempts have none. Limits of money and tokens are shared. */
function wordsOf(raw: RawRunOptions, attempts: number): readonly string[] {
  const { maxCost, maxTokens } = limitsOf(raw);
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--model", raw.model],
    ["--base-url", raw.baseUrl],
    ["--system", raw.system],
    ["--timeout", raw.timeout],
    ["--max-steps", raw.maxSteps],
    ["--max-seconds", raw.maxSeconds],
    ["--max-cost", maxCost === undefined ? undefined : String(maxCost / attempts)],
    ["--max-tokens", maxTokens === undefined ? undefined : String(Math.ceil(maxTokens / attempts))],
    ["--ask", raw.ask],
    ["--sandbox", raw.sandbox],
    ["--db", raw.db],
  ];
  const flags = [
    raw.yes && "--yes",
    raw.trust && "--trust",
    raw.memory === false && "--no-memory",
    raw.skills === false && "--no-skills",
  ].filter((flag) => typeof flag === "string");
  return [
    "--json",
    "--no-mcp",
    ...flags,
    ...given.flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...(raw.allowHost ?? []).flatMap((host) => ["--allow-host", host]),
  ];
}
