/** Texts about delegation for the model that gives a task and for the model that gets it. Snapshot-tested. */
import type { Outcome } from "../loop/messages/outcome.ts";
import type { LocalSubAgent } from "./spec.ts";

export const TASK_TOOL = "task";
export const GENERAL_PURPOSE_NAME = "general-purpose";

/** Under this key of `configurable` a caller asks for another form of the result of `task`. */
export const SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY = "__deepwright_subagent_response_format";

export const DEFAULT_GENERAL_PURPOSE_DESCRIPTION =
  "Works like you, with your tools: for searches, research and other work of many steps of which only the result matters.";

export const DEFAULT_SUBAGENT_PROMPT = `You do one task that another agent has handed to you. You cannot ask back: decide sensibly and say what you assumed.
Your last message is all the other agent gets: give the findings, with names and paths, complete and short.`;

export const GENERAL_PURPOSE_SUBAGENT = {
  name: GENERAL_PURPOSE_NAME,
  description: DEFAULT_GENERAL_PURPOSE_DESCRIPTION,
  systemPrompt: DEFAULT_SUBAGENT_PROMPT,
  mode: "isolated",
} as const;

export const TASK_SYSTEM_PROMPT = `## Subagents
Hand self-contained work of many steps to a subagent with \`task\`, to keep its details out of this conversation. Independent tasks belong in one turn: they run at the same time. Do small things yourself, and tell the user what came out: they do not see the reports.`;

const TASK_WORDS = `Have a subagent do a task. It knows nothing of this conversation and reports once, at the end: say what to do, everything it needs to know, and what to report.
Types:`;

const FORK = " (knows this conversation)";

/** `{available_agents}` in words of the user's stands for the list. */
export function taskDescription(given: string | undefined, subAgents: readonly LocalSubAgent[]): string {
  const list = subAgents
    .map(({ name, description, mode }) => `- ${name}: ${description}${mode === "fork" ? FORK : ""}`)
    .join("\n");
  if (given === undefined) return `${TASK_WORDS}\n${list}`;
  return given.replaceAll("{available_agents}", () => list);
}

export function unknownType(type: string, names: readonly string[]): string {
  return `Error: There is no subagent '${type}'. The types are: ${names.join(", ")}.`;
}

export const MOST_LEVELS = 8;

export function tooDeep(path: readonly string[]): string {
  return `Error: Subagents are ${path.length} levels deep here (${path.join(" → ")}), which is the limit: do the task yourself.`;
}

export function noForkOfFork(name: string): string {
  return `Error: '${name}' would continue this conversation, which already is such a continuation. Do the task yourself, or choose a subagent of another type.`;
}

/** The reason why a run that ended normally has not done its task; undefined when it has. */
export function shortfall(outcome: Outcome | undefined): string | undefined {
  if (outcome === undefined || outcome.kind === "done") return undefined;
  return outcome.detail ?? REASONS[outcome.kind];
}

const REASONS: Readonly<Record<Exclude<Outcome["kind"], "done">, string>> = {
  length: "Its reply was cut off.",
  content_filter: "The provider stopped its reply.",
  refusal: "It declined.",
  empty: "It said nothing.",
  budget: "The budget is used up.",
  loop: "It was going in circles.",
  unverified: "A completion check of its todo list failed.",
};

export interface Report {
  readonly name: string;
  /** Its last text; "" without one. */
  readonly text: string;
  /** Why it did not finish. */
  readonly reason?: string | undefined;
  readonly changedFiles: readonly string[];
  readonly notes: readonly string[];
}

export function unfinishedWords({ name, text, reason, changedFiles, notes }: Report): string {
  const parts = [`Error: The subagent '${name}' did not finish. ${reason ?? ""}`.trim()];
  if (changedFiles.length > 0) parts.push(`Files it changed before are kept: ${shortList(changedFiles)}.`);
  parts.push(...notes);
  if (text !== "") parts.push(`Its last words:\n${text}`);
  return parts.join("\n");
}

export function finishedWords({ name, text, reason, notes }: Report): string {
  const remarks =
    reason === undefined ? notes : [`Note: '${name}' may not have finished. ${reason}`, ...notes];
  const said = text === "" ? `The subagent '${name}' is done and had nothing to say.` : text;
  return [said, ...(remarks.length > 0 ? ["", ...remarks] : [])].join("\n");
}

const SHOWN_FILES = 20;

function shortList(paths: readonly string[]): string {
  const more = paths.length - SHOWN_FILES;
  const shown = paths.slice(0, SHOWN_FILES).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

export function keptAside(path: string, aside: string): string {
  return `Note: '${path}' was also changed by another call of this turn, whose version was kept. This subagent's is at '${aside}'.`;
}

export function notDeleted(path: string): string {
  return `Note: '${path}' was changed by another call of this turn and is kept, though this subagent deleted it.`;
}

export function keyTaken(key: string): string {
  return `Note: '${key}' was also set by another call of this turn, whose value was kept. This subagent's was not taken over.`;
}

/** A message of the user that the subagent has not read; it ended first. */
export function unreadWords(content: unknown): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return `Note: the user wrote this to the subagent, which ended before it read it. Take it into account: ${text}`;
}
