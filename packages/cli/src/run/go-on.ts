/** How a run that stopped can go on, in words. */
import { safeLine } from "../terminal/safe-text.ts";
import type { RunEnd } from "./run-end.ts";
import type { Limits } from "./run-limits.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunThread } from "./run-thread.ts";

const FLAGS: Readonly<Record<keyof Limits, string>> = {
  maxSteps: "--max-steps",
  maxCost: "--max-cost",
  maxTokens: "--max-tokens",
  maxSeconds: "--max-seconds",
};

/** Undefined where there is nothing to go on with. `open` counts the questions the thread waits with. */
export function goOnLine(
  end: RunEnd,
  open: number,
  { db, limits }: Pick<RunOptions, "db" | "limits">,
  thread: Pick<RunThread, "id" | "isKept"> | undefined,
): string | undefined {
  if (!thread?.isKept) return undefined;
  // A database's address may hold a password.
  const command = `deepwright run --thread ${safeLine(thread.id)}${db === undefined ? "" : " --db …"}`;
  if (open > 0) return `Decide with: ${command}, or with --approve or --reject REASON for all that is open`;
  if (end.kind !== "outcome") return undefined;
  if (end.outcome.kind === "loop") return `Go on with: ${command}`;
  if (end.outcome.kind !== "budget") return undefined;
  return `Go on with: ${command} ${raised(limits, end.outcome.allowed)}`;
}

/** Twice the limit that was reached; where that could be one of several, the reader chooses. */
function raised(limits: Limits, allowed: number | undefined): string {
  const reached = (Object.keys(FLAGS) as (keyof Limits)[]).filter((name) => limits[name] !== undefined);
  const fitting = reached.filter((name) => limits[name] === allowed);
  const [name] = fitting.length === 1 ? fitting : [];
  return name === undefined ? "with a higher limit" : `${FLAGS[name]} ${Number(limits[name]) * 2}`;
}
