/** Words of the app: modes, ends of runs, paths. Pure. */
import type { ApprovalMode } from "@deepwright/server";
import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
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

/** A line at a width; what does not fit stands below its second column, if it has one. */
export function hangingRows(line: string, width: number): string[] {
  const head = /^ {2}\S.*? {2,}/.exec(line)?.[0] ?? /^ */.exec(line)?.[0] ?? "";
  const indent = visibleWidth(head);
  if (indent > width / 2) return wrapTextWithAnsi(line, width);
  const [first = "", ...rest] = wrapTextWithAnsi(line.slice(head.length), width - indent);
  return [`${head}${first}`, ...rest.map((row) => " ".repeat(indent) + row)];
}

export function textRows(text: string, width: number): readonly string[] {
  const lines = text.split("\n").flatMap((line) => wrapTextWithAnsi(safeLine(line), width - 2));
  return lines.map((row) => `  ${row}`);
}

export const PLAN_WORDS =
  "Plan mode: /approve carries the plan out, /approve fresh does it in a new thread that knows only the plan.";

export const ASKED_LATER = "Esc shows the question again; a message cancels what it asks about";

export const UNREAD_WORDS = "The subagent ended before it read your message; its result tells the agent:";
