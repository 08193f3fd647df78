/** The live region: what still changes, what is pinned, the input and the status line. Pure. */
import { emptyScreen, type Screen } from "@deepwright/protocol/screen";
import { safeLine } from "../terminal/safe-text.ts";
import { shortPath } from "./app-words.ts";
import { keyWords } from "./keys/bindings.ts";
import type { Content, Session } from "./session/session.ts";
import { budgetLeft } from "./session/spending.ts";
import type { Looks } from "./view/looks.ts";
import {
  contextTokens,
  type Status,
  statusRow,
  subagentRows,
  todoRows,
  type Work,
  workRow,
} from "./view/panes.ts";
import type { Theme } from "./view/theme.ts";

export interface LiveParts {
  readonly screen: Screen;
  /** Rows of the conversation that may still change. */
  readonly tail: readonly string[];
  /** Absent: nothing is at work. */
  readonly work: Work | undefined;
  /** Messages that wait for the run to end or to take them. */
  readonly waiting: readonly string[];
  readonly input: readonly string[];
  readonly status: Status;
  /** A word about the keys, in the place of the status line. */
  readonly hint: string | undefined;
}

/** At most `rows` rows: the input and the status stay, the end of the conversation gets what is left. */
export function liveRegion(parts: LiveParts, width: number, rows: number, theme: Theme): readonly string[] {
  const { screen, work, waiting, input, hint } = parts;
  const pinned = [
    ...subagentRows(screen, width, theme),
    ...(work ? ["", workRow(work, theme)] : []),
    ...(work || screen.interrupts.length > 0 ? todoRows(screen, width, theme) : []),
    ...waiting.map((row) => theme.dim(`  ${row}`)),
  ];
  const foot = [...input, hint === undefined ? statusRow(parts.status, width, theme) : ` ${hint}`];
  const roomForPinned = Math.max(rows - foot.length, 0);
  const shownPinned = pinned.slice(0, roomForPinned);
  const room = Math.max(rows - foot.length - shownPinned.length, 0);
  const tail = room === 0 ? [] : parts.tail.slice(-room);
  return [...tail, ...shownPinned, ...foot];
}

export function statusOf(
  session: Session | undefined,
  options: {
    readonly directory: string;
    readonly mode: string | undefined;
    readonly environment: NodeJS.ProcessEnv;
  },
  looks: Looks,
  isVimNormal: boolean,
): Status {
  const place = session?.place;
  return {
    model: session?.model ?? place?.model ?? "",
    isOffline: place?.isOffline ?? false,
    // The files of a server elsewhere are not those of this directory.
    directory: place && !place.local ? "" : shortPath(options.directory, options.environment),
    sandbox: place?.sandbox ?? "",
    mode: place?.hasModes === false ? "" : (session?.mode ?? options.mode ?? "ask"),
    context: contextTokens(session?.screen ?? emptyScreen),
    window: place?.window,
    cost: session && place?.costOf(session.screen.usage, session.model),
    budget:
      session &&
      place &&
      budgetLeft(place.budget, {
        tokens: session.usageOfRun.total,
        cost: place.costOf(session.usageOfRun, session.model),
      }),
    modeKey: keyWords("next-mode", looks.keybindings),
    isVimNormal,
    items: looks.statusLine,
  };
}

function textOf(content: Content): string {
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join(" ");
}

/** Messages on their way: into the run, behind it, or to a session that is still starting. */
export function waitingRows(session: Session | undefined, early: readonly string[]): readonly string[] {
  const steering = [...(session?.steering.values() ?? [])].map(
    (content) =>
      `${session?.isRunning ? "for its next step" : "goes before your next message"}: ${safeLine(textOf(content), 60)}`,
  );
  const queued = (session?.queue ?? []).map(
    (text) => `for afterwards: ${safeLine(text, 60)} (Alt-Up takes it back)`,
  );
  const told = (session?.told.messages ?? []).map(
    ({ namespace, text }) =>
      `for ${safeLine(session?.screen.subagents[namespace]?.name ?? "a subagent", 24)}: ${safeLine(text, 60)}`,
  );
  return [...steering, ...told, ...queued, ...early.map((text) => `waits: ${safeLine(text, 60)}`)];
}
