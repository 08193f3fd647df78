/** Words of the app: modes, ends of runs, paths. Pure. */
import type { ApprovalMode } from "@deepwright/server";
import { safeLine } from "../terminal/safe-text.ts";
import type { Session } from "./session/session.ts";

export const MODES: readonly ApprovalMode[] = ["ask", "accept-edits", "plan", "auto"];

export const MODE_WORDS: Readonly<Record<ApprovalMode, string>> = {
  ask: "changes and commands are asked about",
  "accept-edits": "files change without a question, commands are asked about",
  plan: "the agent only looks, and ends with a plan",
  auto: "everything inside the sandbox runs without a question",
};

export const NO_MODES = "This agent decides itself what it asks about: it has no modes.";

export function endWords({
  screen: { run, interrupts },
}: Session): { text: string; isBad: boolean } | undefined {
  if (run.status === "error")
    return {
      text: `✘ ${safeLine(run.error?.message || run.error?.error || "The run failed.", 1_000)}`,
      isBad: true,
    };
  if (run.status === "interrupted" && interrupts.length === 0) return { text: "■ Interrupted", isBad: false };
  if (run.status === "timeout") return { text: "■ Out of time", isBad: true };
  const { kind, detail } = run.outcome ?? { kind: "done", detail: undefined };
  if (interrupts.length > 0) return undefined;
  if (kind === "done") return { text: "✔ done", isBad: false };
  return { text: `■ ${safeLine(`${kind}${detail ? `: ${detail}` : ""}`, 300)}`, isBad: true };
}

/** Text of an error, with the remedy if one is known. */
export function errorWords({ message, hint }: Error & { readonly hint?: string }): string {
  return safeLine(hint === undefined ? message : `${message} ${hint}`, 1_000);
}

export function shortPath(path: string, { HOME }: NodeJS.ProcessEnv): string {
  return HOME && (path === HOME || path.startsWith(`${HOME}/`)) ? `~${path.slice(HOME.length)}` : path;
}

export function textRows(text: string, width: number): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const safe = safeLine(line);
    return safe.length <= width - 2
      ? [`  ${safe}`]
      : (safe.match(new RegExp(`.{1,${width - 2}}`, "gu")) ?? []).map((row) => `  ${row}`);
  });
}

export const PLAN_WORDS =
  "Plan mode: /approve carries the plan out, /approve fresh does it in a new thread that knows only the plan.";

export const UNREAD_WORDS = "The subagent ended before it read your message; its result tells the agent:";
