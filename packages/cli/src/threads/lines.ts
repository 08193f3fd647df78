/** Threads, steps and changes as lines for people. All text from storage is made safe here. */
import { homedir } from "node:os";
import type {
  FileChange,
  NotCovered,
  RewindResult,
  ThreadDetails,
  ThreadFacts,
} from "@deepwright/checkpoint";
import { count } from "../terminal/amounts.ts";
import type { Colours } from "../terminal/console.ts";
import { safeLine, safeText } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { isPutAside, realFiles } from "./put-aside.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SHORT_ID = 8;
const MOST_ID = 40;
const MOST_DIRECTORY = 40;
const MOST_TITLE = 80;

/** Enough of an id to name the thread by. */
export function shortId(id: string): string {
  return UUID.test(id) ? id.slice(0, SHORT_ID) : safeLine(id, MOST_ID);
}

const PLAIN_WORD = /^[\w.:@%+=,/][\w.:@%+=,/-]*$/;

/** The id as a word of a command that can be typed again, unless it has control characters. */
export function idWord(id: string): string {
  return UUID.test(id) ? shortId(id) : shellWord(id);
}

export function shellWord(text: string): string {
  if (PLAIN_WORD.test(text)) return text;
  return `'${safeText(text).replaceAll("\n", "\\n").replaceAll("'", `'\\''`)}'`;
}

/** In the time of this machine. */
export function timeText(time: number | string): string {
  return new Date(time).toLocaleString("sv-SE").slice(0, 16);
}

export function threadLines(threads: readonly ThreadFacts[]): string[] {
  const columns = [
    { heading: "THREAD" },
    { heading: "UPDATED" },
    { heading: "MESSAGES", isNumber: true },
    { heading: "DIRECTORY" },
    { heading: "TITLE" },
  ];
  const rows = threads.map(({ threadId, updatedAt, messageCount, cwd, title, firstPrompt }) => [
    shortId(threadId),
    timeText(updatedAt),
    String(messageCount),
    directoryText(cwd),
    safeLine(title ?? firstPrompt ?? "", MOST_TITLE),
  ]);
  return tableLines(columns, rows);
}

function directoryText(cwd: string | undefined): string {
  if (cwd === undefined) return "";
  const home = homedir();
  const short = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
  return safeLine(short, MOST_DIRECTORY);
}

const SOURCES: ReadonlyMap<string, string> = new Map([
  ["input", "input"],
  ["loop", "agent"],
  ["update", "edit"],
  ["fork", "rewind"],
]);

export function detailLines(details: ThreadDetails): string[] {
  const facts: [string, string | undefined][] = [
    ["Thread", details.threadId],
    ["Title", details.title],
    ["First prompt", details.firstPrompt],
    ["Directory", details.cwd],
    ["Model", details.model],
    ["Created", timeText(details.createdAt)],
    ["Updated", timeText(details.updatedAt)],
    ["Messages", String(details.messageCount)],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
  return [
    ...known.map(([name, value]) => `${`${name}:`.padEnd(14)}${safeLine(value, 200)}`),
    ...(details.waiting ? ["It waits for an answer."] : []),
    "",
    ...stepLines(details),
  ];
}

function stepLines({ steps }: ThreadDetails): string[] {
  const columns = [
    { heading: "STEP", isNumber: true },
    { heading: "TIME" },
    { heading: "BY" },
    { heading: "MESSAGES", isNumber: true },
    { heading: "WHAT" },
  ];
  const rows = steps.map(({ step, at, source, messageCount, changedFiles, summary }) => [
    String(step),
    timeText(at),
    SOURCES.get(source) ?? safeLine(source, 10),
    String(messageCount),
    [filesText(changedFiles.filter((path) => !isPutAside(path))), safeLine(summary, MOST_TITLE)]
      .filter((part) => part !== "")
      .join(" · "),
  ]);
  return tableLines(columns, rows);
}

const MOST_NAMED = 3;

function filesText(paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const names = paths.slice(0, MOST_NAMED).map((path) => safeLine(path, MOST_DIRECTORY));
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  return `${count(paths.length, "file")}: ${names.join(", ")}${more}`;
}

/** Unified diffs one after the other, as `git diff` prints them; lines are cut at `width` characters. */
export function patchLines(
  changes: readonly ShownChange[],
  colours: Colours,
  width = Number.POSITIVE_INFINITY,
): string[] {
  return changes.flatMap(({ path, place, kind, patch, detail }) => {
    const where = place === undefined ? [] : [`In ${placeText(place)}:`];
    if (patch === undefined && detail !== undefined)
      return [...where, `${safeLine(path)} was ${kind}: ${safeLine(detail)}`];
    if (patch === undefined) return [...where, `Binary file ${safeLine(path)} was ${kind}.`];
    const lines = patch.replace(/\n$/, "").split("\n");
    return [...where, ...lines.map((line) => coloured(safeText(cut(line, width)), colours))];
  });
}

function cut(line: string, width: number): string {
  return line.length > width ? `${line.slice(0, width)}…` : line;
}

const DISK = "disk:";

/** The directory, for a place on the disk. */
function placeText(place: string): string {
  return safeLine(place.startsWith(DISK) ? place.slice(DISK.length) : place);
}

function coloured(line: string, colours: Colours): string {
  if (line.startsWith("+++") || line.startsWith("---")) return colours.bold(line);
  if (line.startsWith("@@")) return colours.cyan(line);
  if (line.startsWith("+")) return colours.green(line);
  return line.startsWith("-") ? colours.red(line) : line;
}

const SIGNS = { created: "+", changed: "~", deleted: "-" } as const;

const MOST_LISTED = 50;

/** A change as far as lines show it. */
export type ShownChange = Pick<FileChange, "path" | "place" | "kind" | "patch" | "detail">;

export interface ShownReport extends Pick<RewindResult, "conflicts"> {
  readonly restored: readonly ShownChange[];
  readonly notCovered: readonly (Omit<NotCovered, "place"> & { readonly place?: string })[];
}

/** Describes restored files, conflicts and files that a rewind does not cover. */
export function rewindLines({ notCovered, ...result }: ShownReport): string[] {
  const [restored, conflicts] = [realFiles(result.restored), realFiles(result.conflicts)];
  const none = restored.length + conflicts.length === 0 ? ["  no file changes"] : [];
  return [
    ...restored.map(({ path, place, kind, detail }) => {
      const what = detail === undefined ? "" : ` (${safeLine(detail)})`;
      return `  ${SIGNS[kind]} ${fileText(path, place)}${what}`;
    }),
    ...conflicts.map(({ path, place, reason, keptAt }) => {
      const beside = keptAt === undefined ? "" : ` The restored content is in ${safeLine(keptAt)}.`;
      return `  ! ${fileText(path, place)} is not changed: ${safeLine(reason)}${beside}`;
    }),
    ...none,
    ...notCoveredLines(notCovered),
  ];
}

function fileText(path: string, place: string | undefined): string {
  return place === undefined ? safeLine(path) : `${safeLine(path)} in ${placeText(place)}`;
}

function notCoveredLines(notCovered: ShownReport["notCovered"]): string[] {
  if (notCovered.length === 0) return [];
  const lines = notCovered.slice(0, MOST_LISTED).map(({ place, path, command, reason }) => {
    const what = command === undefined ? fileText(path ?? "", place) : `$ ${safeLine(command, MOST_TITLE)}`;
    return `  ? ${what}: ${safeLine(reason)}`;
  });
  const more = notCovered.length - lines.length;
  return ["Not restored:", ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])];
}
