/** What is said about files: what went in, what changed, what was written. */
import { bytes, count } from "../terminal/amounts.ts";
import type { Colours } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { Changes } from "../workspace/changes.ts";
import { leftOutWords } from "../workspace/left-out.ts";
import type { WorkspaceLimits } from "../workspace/limits.ts";
import type { Workspace } from "../workspace/read-workspace.ts";
import type { WriteReport } from "../workspace/write-changes.ts";
import type { ThreadBefore } from "./run-thread.ts";

const MAX_LISTED = 50;

/** One line: what was copied from where, and what was left out. */
export function workspaceLine(workspace: Workspace, path: string, limits: WorkspaceLimits): string {
  const amount = Object.keys(workspace.files).length;
  const copied = `Workspace: a copy of ${count(amount, "text file")} (${bytes(workspace.bytes)}) from ${safeLine(path)}`;
  const leftOut = leftOutWords(workspace.leftOut, limits);
  const partial = workspace.complete ? "" : "; the directory is too big to look at all of it";
  return `${copied}${leftOut === "" ? "" : `; left out: ${leftOut}`}${partial}`;
}

/** One line: what a thread that goes on has, and what the disk brings. */
export function threadLine({ files, messages }: ThreadBefore, given: readonly string[]): string {
  const has = `Thread: ${count(messages, "message")}, ${count(Object.keys(files).length, "file")}`;
  if (given.length === 0) return has;
  const names = given.slice(0, MAX_NAMED).map((path) => safeLine(path));
  const more = given.length > MAX_NAMED ? ", …" : "";
  return `${has}; read again from the disk: ${count(given.length, "file")} (${names.join(", ")}${more})`;
}

const MAX_NAMED = 5;

/** `+ /new`, `~ /changed`, `- /deleted`. */
export function changeLines(changes: Changes, colours: Colours): readonly string[] {
  const lines = [
    ...changes.created.map((path) => colours.green(`  + ${safeLine(path)}`)),
    ...changes.changed.map((path) => colours.yellow(`  ~ ${safeLine(path)}`)),
    ...changes.deleted.map((path) => colours.red(`  - ${safeLine(path)}`)),
  ];
  if (lines.length <= MAX_LISTED) return lines;
  return [...lines.slice(0, MAX_LISTED), `  … and ${lines.length - MAX_LISTED} more`];
}

/** What became of the changes on the disk. */
export function writtenLines(
  changes: Changes,
  report: WriteReport | undefined,
  out: string | undefined,
): readonly string[] {
  if (report === undefined || out === undefined)
    return ["Nothing was written to the disk: pass --out DIR to receive these changes."];
  const deleted = changes.deleted.length;
  return [
    `Wrote ${count(report.written.length, "file")} to ${safeLine(out)}`,
    ...(deleted > 0
      ? [`Deleted in the copy only, nothing was removed from the disk: ${count(deleted, "file")}`]
      : []),
  ];
}

export function refusalLines(report: WriteReport): readonly string[] {
  return report.refused.map(({ path, reason }) => `Not written: ${safeLine(path)}: ${safeLine(reason, 200)}`);
}
