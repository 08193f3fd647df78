/** The approval modes, and which calls each of them runs, asks about or refuses. Pure. */
import type { ToolEffect } from "deepwright";

export const APPROVAL_MODES = ["ask", "accept-edits", "plan", "auto"] as const;

/**
 * - `ask`: a person decides about changes and commands.
 * - `accept-edits`: changes of files run; commands are asked about.
 * - `plan`: only looking is possible; everything else is refused.
 * - `auto`: everything the sandbox contains runs; what reaches beyond it is asked about.
 */
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export function isApprovalMode(value: unknown): value is ApprovalMode {
  return (APPROVAL_MODES as readonly unknown[]).includes(value);
}

export interface JudgedCall {
  readonly effect: ToolEffect;
  /** A command that only looks, or a call that its own rules let run unasked. */
  readonly isHarmless: boolean;
  /** Its effects stay inside a sandbox. */
  readonly isContained: boolean;
  /** It only reads, and its own gate asks about it all the same. */
  readonly asksToRead?: boolean;
}

export function verdictOf(mode: ApprovalMode, call: JudgedCall): "run" | "ask" | "refuse" {
  if (call.effect === "reads") return call.asksToRead ? "ask" : "run";
  if (mode === "plan") return call.isHarmless && call.effect === "commands" ? "run" : "refuse";
  if (call.isHarmless) return "run";
  if (mode === "accept-edits") return call.effect === "files" ? "run" : "ask";
  if (mode === "auto") return call.effect === "files" || call.isContained ? "run" : "ask";
  return "ask";
}

/** A standing permission that a person gave for more than one call. */
export interface AllowRule {
  readonly tool: string;
  /** Words that a command begins with; absent: every call of the tool. */
  readonly prefix?: readonly string[];
  /** Absent: it holds in every thread. */
  readonly threadId?: string;
}

/** `words` are the words of a plain command; undefined for other calls. */
export function allows(
  rule: AllowRule,
  { tool, threadId, words }: { tool: string; threadId: string; words: readonly string[] | undefined },
): boolean {
  if (rule.tool !== tool || (rule.threadId !== undefined && rule.threadId !== threadId)) return false;
  if (rule.prefix === undefined) return true;
  return words !== undefined && rule.prefix.length > 0 && rule.prefix.every((word, i) => words[i] === word);
}

const MOST_RULES = 100;

/** Rules that a run is begun with. Undefined: the value is no list of rules. */
export function rulesIn(value: unknown): readonly AllowRule[] | undefined {
  if (!Array.isArray(value) || value.length > MOST_RULES || !value.every(isRule)) return undefined;
  return value.map(({ tool, prefix }) => ({ tool, ...(prefix && { prefix }) }));
}

function isRule(value: unknown): value is AllowRule {
  const { tool, prefix } = (value ?? {}) as { readonly tool?: unknown; readonly prefix?: unknown };
  const isPrefix = (words: unknown): boolean =>
    Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === "string");
  return typeof tool === "string" && tool !== "" && (prefix === undefined || isPrefix(prefix));
}
