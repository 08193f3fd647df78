/** The subagents of a session: a list, and one of them live. One can be stopped or told something alone. */
import type { Screen, ShownAgent } from "@deepwright/protocol";
import { matchesKey } from "@earendil-works/pi-tui";
import { safeLine } from "../../terminal/safe-text.ts";
import { textRows } from "../app-words.ts";
import type { CallContext } from "../view/call-rows.ts";
import { isAtWork, stateWords, subagentRow } from "../view/panes.ts";
import type { Theme } from "../view/theme.ts";
import { Transcript } from "../view/transcript.ts";
import type { Panel } from "./panel.ts";

export interface SubagentHost {
  readonly theme: Theme;
  readonly context: CallContext;
  screen(): Screen;
  stop(namespace: string): void;
  /** Asks the person for a message and sends it. */
  steer(namespace: string): void;
  close(): void;
}

export class SubagentPanel implements Panel {
  readonly isTall = true;
  /** The subagent that keys are for: the list changes its order when one ends. */
  private selected: string | undefined;
  private opened: OpenedSubagent | undefined;

  constructor(private readonly host: SubagentHost) {}

  rows(width: number, rows: number): readonly string[] {
    if (this.opened) return this.opened.rows(width, rows);
    const { theme } = this.host;
    const screen = this.host.screen();
    const agents = this.agents();
    const height = Math.max(rows - 2, 1);
    const place = this.place(agents);
    this.selected = agents[place]?.[0];
    const top = Math.max(0, Math.min(place - Math.floor(height / 2), agents.length - height));
    const shown = agents.slice(top, top + height).map(([namespace, agent]) => {
      const mark = namespace === this.selected ? theme.accent("❯") : " ";
      return subagentRow(agent, width, theme, mark, taskOf(screen, agent));
    });
    const keys = this.selected !== undefined && this.isWorking(this.selected) ? WORK_KEYS : "";
    return [
      theme.accent(`── Subagents (${agents.length})`),
      ...(shown.length > 0 ? shown : [theme.dim("  No subagent has worked yet.")]),
      theme.dim(`  ↑↓ · Enter opens${keys} · Esc closes`),
    ];
  }

  handle(data: string): void {
    const { host, opened } = this;
    const namespace = opened?.namespace ?? this.selected;
    if (matchesKey(data, "escape") && opened) this.opened = undefined;
    else if (matchesKey(data, "escape") || matchesKey(data, "tab")) host.close();
    else if (data === "x" && namespace !== undefined && this.isWorking(namespace)) host.stop(namespace);
    else if (data === "s" && namespace !== undefined && this.isWorking(namespace)) host.steer(namespace);
    else if (opened) opened.handle(data);
    else if (matchesKey(data, "up")) this.select(-1);
    else if (matchesKey(data, "down")) this.select(1);
    else if (matchesKey(data, "enter") && namespace !== undefined)
      this.opened = new OpenedSubagent(namespace, host);
  }

  private place(agents: readonly (readonly [string, ShownAgent])[]): number {
    return Math.max(
      agents.findIndex(([namespace]) => namespace === this.selected),
      0,
    );
  }

  private select(step: number): void {
    const agents = this.agents();
    const next = Math.min(Math.max(this.place(agents) + step, 0), agents.length - 1);
    this.selected = agents[next]?.[0];
  }

  private isWorking(namespace: string): boolean {
    const agent = this.host.screen().subagents[namespace];
    return agent !== undefined && isAtWork(agent);
  }

  /** Those at work come first, else in the order they began. */
  private agents(): readonly (readonly [string, ShownAgent])[] {
    return Object.entries(this.host.screen().subagents).toSorted(
      ([, a], [, b]) => Number(isAtWork(b)) - Number(isAtWork(a)),
    );
  }
}

const WORK_KEYS = " · x stops · s tells it something";

/** The conversation of one subagent, following its end until the person scrolls up. */
class OpenedSubagent {
  private transcript = new Transcript();
  private committed: string[] = [];
  private width = 0;
  /** Rows between the shown part and the end. */
  private above = 0;
  private height = 1;

  constructor(
    readonly namespace: string,
    private readonly host: SubagentHost,
  ) {}

  rows(width: number, rows: number): readonly string[] {
    const { theme, context } = this.host;
    const screen = this.host.screen();
    const agent = screen.subagents[this.namespace];
    if (!agent) return [theme.dim("  This subagent is gone · Esc goes back")];
    if (width !== this.width) {
      this.transcript = new Transcript();
      this.committed = [];
      this.width = width;
    }
    const own = { ...screen, main: agent };
    if (this.committed.length === 0) this.committed.push(...taskRows(screen, agent, width, theme));
    this.transcript.follow(own);
    this.committed.push(...this.transcript.commit(own, width, context));
    const all = [...this.committed, ...this.transcript.live(own, width, context)];
    this.height = Math.max(rows - 2, 1);
    this.above = Math.max(0, Math.min(this.above, all.length - this.height));
    const state = agent.status === "running" ? agent.status : stateWords(agent);
    const end = all.length - this.above;
    return [
      theme.accent(`── ${safeLine(agent.name ?? "subagent", 40)} · ${state}`),
      ...all.slice(Math.max(0, end - this.height), end),
      theme.dim(`  ↑↓ PgUp PgDn${isAtWork(agent) ? WORK_KEYS : ""} · Esc goes back`),
    ];
  }

  handle(data: string): void {
    if (matchesKey(data, "up")) this.above += 1;
    else if (matchesKey(data, "down")) this.above -= 1;
    else if (matchesKey(data, "pageUp")) this.above += this.height;
    else if (matchesKey(data, "pageDown")) this.above -= this.height;
  }
}

/** The task as its parent wrote it; streams do not repeat it as a message of the subagent. */
function taskRows(screen: Screen, agent: ShownAgent, width: number, theme: Theme): string[] {
  const task = agent.messages[0]?.role === "user" ? "" : taskOf(screen, agent);
  return task === "" ? [] : [...textRows(task, width).map((row) => theme.dim(row)), ""];
}

function taskOf({ main, subagents }: Screen, { callId }: ShownAgent): string {
  const calls = [main, ...Object.values(subagents)].flatMap(({ messages }) =>
    messages.flatMap((message) => message.calls),
  );
  const { description } = (calls.find(({ id }) => id === callId)?.args ?? {}) as { description?: unknown };
  return typeof description === "string" ? description : "";
}
