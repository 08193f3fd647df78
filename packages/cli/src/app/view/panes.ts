/** The rows around the input: todos, subagents, what is under way, and the status line. Pure. */
import type { Screen, ShownAgent } from "@deepwright/protocol";
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { callLine } from "../../run/output/tool-lines.ts";
import { grouped } from "../../terminal/amounts.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { Looks } from "./looks.ts";
import type { Theme } from "./theme.ts";

const MOST_TODOS = 8;
const MOST_SUBAGENTS = 8;

export function todoRows({ main }: Screen, width: number, theme: Theme): readonly string[] {
  const { todos } = main;
  if (todos.length === 0 || todos.every(({ status }) => status === "completed")) return [];
  const current = todos.findIndex(({ status }) => status !== "completed");
  const first = Math.max(0, Math.min(current - 2, todos.length - MOST_TODOS));
  const shown = todos.slice(first, first + MOST_TODOS);
  const hidden = todos.length - shown.length;
  return [
    ...shown.map(({ content, status }) => {
      const text = safeLine(content, width - 4);
      if (status === "completed") return theme.dim(`  ☑ ${text}`);
      return status === "in_progress" ? theme.accent(`  ◐ ${text}`) : `  ☐ ${text}`;
    }),
    ...(hidden > 0 ? [theme.dim(`  … ${hidden} more`)] : []),
  ];
}

/** Subagents that work or wait, with the call each is at. */
export function workingAgents({ subagents }: Screen): readonly ShownAgent[] {
  return Object.values(subagents).filter(isAtWork);
}

export function isAtWork({ status }: ShownAgent): boolean {
  return status === "running" || status === "waiting";
}

/** One subagent: name, status or current call, tokens, and its task as far as it fits. */
export function subagentRow(
  agent: ShownAgent,
  width: number,
  theme: Theme,
  mark: string,
  task: string,
): string {
  const tokens = agent.messages.reduce((sum, { usage }) => sum + (usage?.total ?? 0), 0);
  const size = tokens > 0 ? ` · ${shortCount(tokens)} tokens` : "";
  const name = safeLine(agent.name ?? "subagent", 24);
  const about = task === "" ? "" : ` · ${safeLine(task, 200)}`;
  const text = `  ${mark} ${theme.bold(name)} ${stateWords(agent)}${theme.dim(size + about)}`;
  return truncateToWidth(text, width, "…");
}

/** The current call of a subagent at work, else its status. */
export function stateWords({ status, messages }: ShownAgent): string {
  if (status !== "running") return STATUS_WORDS[status];
  const call = messages.findLast(({ calls }) => calls.length > 0)?.calls.at(-1);
  return call === undefined ? "thinking" : callLine(call.name, call.args ?? {}, 60);
}

const STATUS_WORDS: Readonly<Record<Exclude<ShownAgent["status"], "running">, string>> = {
  waiting: "waits for your answer",
  done: "is done",
  error: "did not finish",
  stopped: "was stopped",
};

export function subagentRows(screen: Screen, width: number, theme: Theme): readonly string[] {
  const agents = workingAgents(screen);
  const mark = theme.accent("⎿");
  const rows = agents.slice(0, MOST_SUBAGENTS).map((agent) => subagentRow(agent, width, theme, mark, ""));
  const hidden = agents.length - rows.length;
  if (rows.length === 0) return rows;
  return [
    ...rows,
    theme.dim(hidden > 0 ? `    … ${hidden} more subagents · Tab shows all` : "    Tab opens them"),
  ];
}

const SPINNER = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];

export interface Work {
  /** Milliseconds since the run began. */
  readonly elapsed: number;
  readonly isInterrupting: boolean;
  readonly tokens: number;
  /** The person's own command; absent: the agent works. */
  readonly command?: string;
}

export function workRow({ elapsed, isInterrupting, tokens, command }: Work, theme: Theme): string {
  const sign = SPINNER[Math.floor(elapsed / 100) % SPINNER.length] ?? "";
  const seconds = Math.floor(elapsed / 1_000);
  const time = seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const size = tokens > 0 ? ` · ${shortCount(tokens)} tokens` : "";
  const words = isInterrupting ? "Stopping…" : `${command ?? "Working"}…`;
  const tell = command === undefined ? " · Enter tells it now · Alt-Enter later" : "";
  const keys = isInterrupting ? "" : ` · Esc stops${tell}`;
  return `${theme.accent(sign)} ${words} ${theme.dim(`${time}${size}${keys}`)}`;
}

export interface Status {
  readonly model: string;
  readonly isOffline: boolean;
  readonly directory: string;
  readonly sandbox: string;
  readonly mode: string;
  /** The key that changes it. */
  readonly modeKey: string;
  /** Vim's normal mode. */
  readonly isVimNormal: boolean;
  /** Tokens of the last request, which is what the window holds. */
  readonly context: number;
  readonly window: number | undefined;
  /** Dollars; undefined: not known. */
  readonly cost: number | undefined;
  readonly budget: string | undefined;
  /** Chosen items in their order; undefined: all. */
  readonly items?: Looks["statusLine"];
}

/** As much as fits, the most important first. */
export function statusRow(status: Status, width: number, theme: Theme): string {
  const mode = status.mode === "ask" ? status.mode : theme.warning(status.mode);
  const window = status.window === undefined ? "" : `/${shortCount(status.window)}`;
  const items = {
    mode: status.mode === "" ? "" : `${mode} ${theme.dim(`(${status.modeKey})`)}`,
    model: status.isOffline ? theme.warning("offline model, not an LLM") : safeLine(status.model, 40),
    tokens: status.context > 0 ? `${shortCount(status.context)}${window} tokens` : "",
    cost: status.cost === undefined ? "" : `$${status.cost.toFixed(2)}`,
    budget: status.budget ?? "",
    directory: safeLine(status.directory, 40),
    sandbox: status.sandbox,
  };
  const parts = (
    status.items?.map((name) => items[name]) ?? [...Object.values(items), theme.dim("/help")]
  ).filter((part) => part !== "");
  if (status.isVimNormal) parts.unshift(theme.accent("NORMAL"));
  let row = " ";
  for (const part of parts) {
    const next = row === " " ? ` ${part}` : `${row}${theme.dim(" · ")}${part}`;
    if (visibleWidth(next) <= width) row = next;
  }
  return row;
}

export function shortCount(count: number): string {
  if (count < 10_000) return grouped(count);
  return count < 1_000_000
    ? `${(count / 1_000).toFixed(count < 100_000 ? 1 : 0)}k`
    : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Tokens of the newest request of the main agent. */
export function contextTokens({ main }: Screen): number {
  return main.messages.findLast(({ usage }) => usage !== undefined)?.usage?.input ?? 0;
}
