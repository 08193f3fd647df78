/** The hint at the end of a run that says how to continue it. */
import type { SandboxOptions } from "../../commands/sandbox-kind.ts";
import { quoted, sandboxFlags } from "../../commands/thread-sandbox.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { Limits } from "../run-limits.ts";
import type { RunOptions } from "../run-options.ts";
import type { RunThread } from "../run-thread.ts";
import type { RunEnd } from "./run-end.ts";

const FLAGS: Readonly<Record<Exclude<keyof Limits, "maxStepsPerAgent">, string>> = {
  maxSteps: "--max-steps",
  maxCost: "--max-cost",
  maxTokens: "--max-tokens",
  maxSeconds: "--max-seconds",
};

export interface ContinuableRun {
  readonly options: Pick<RunOptions, "db" | "limits" | "in">;
  readonly thread: Pick<RunThread, "id" | "isKept"> | undefined;
  /** Undefined where the run did not come so far. */
  readonly sandbox: SandboxOptions | undefined;
}

/** Undefined if there is nothing to continue. `open` counts the pending questions of the thread. */
export function continueHint(
  end: RunEnd,
  open: number,
  { options, thread, sandbox }: ContinuableRun,
): string | undefined {
  if (!thread?.isKept) return undefined;
  const { limits } = options;
  const command = continueCommand(thread.id, options, sandbox);
  if (open > 0) return `Decide with: ${command}, or with --approve or --reject REASON for all open questions`;
  if (end.kind !== "outcome") return undefined;
  if (end.outcome.kind === "loop") return `Continue with: ${command}`;
  if (end.outcome.kind !== "budget") return undefined;
  return `Continue with: ${command} ${raised(limits, end.outcome.allowed)}`;
}

/** The thread keeps its sandbox; only the flag for no sandbox has to be repeated. */
function continueCommand(
  threadId: string,
  { db, in: directory }: ContinuableRun["options"],
  sandbox: SandboxOptions | undefined,
): string {
  return [
    `deepwright run --thread ${safeLine(threadId)}`,
    // A database's address may hold a password.
    db === undefined ? "" : " --db …",
    directory === "." ? "" : ` --in ${quoted(directory)}`,
    sandbox?.kind === "none" ? ` ${sandboxFlags(sandbox)}` : "",
  ].join("");
}

/** Twice the limit that was reached; where that could be one of several, the reader chooses. */
function raised(limits: Limits, allowed: number | undefined): string {
  const reached = (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).filter((name) => limits[name] !== undefined);
  const fitting = reached.filter((name) => limits[name] === allowed);
  const [name] = fitting.length === 1 ? fitting : [];
  return name === undefined ? "with a higher limit" : `${FLAGS[name]} ${Number(limits[name]) * 2}`;
}
