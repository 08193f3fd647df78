/** Lines about files: the directory, its changes, and files that were not written. */
import type { FileChange } from "@deepwright/checkpoint";
import { count } from "../../terminal/amounts.ts";
import type { Colours } from "../../terminal/console.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { patchLines } from "../../threads/lines.ts";
import type { Changes } from "../changes.ts";
import type { ThreadBefore } from "../run-thread.ts";
import type { NotWritten } from "../workplace.ts";

const MAX_LISTED = 50;

/** `cloud` is where the files are, if not in the directory. */
export function workspaceLine(directory: string, dryRun: boolean, cloud?: string): string {
  if (cloud !== undefined) return `Workspace: in a sandbox of ${cloud}, with files of its own`;
  const how = dryRun ? "read only: --dry-run" : "the directory itself";
  return `Workspace: ${safeLine(directory)} (${how})`;
}

/** A thread knows the files of the directory it was in; undefined where it stays there. */
export function movedLine({ directory: old }: ThreadBefore, directory: string): string | undefined {
  if (old === undefined || old === directory) return undefined;
  return `Warning: the thread worked in ${safeLine(old)} until now; it continues in ${safeLine(directory)}`;
}

export function threadLine({ messages }: ThreadBefore): string {
  return `Thread: ${count(messages, "message")}`;
}

/** `+ /new`, `~ /changed`, `- /deleted`. */
export function changeLines(changes: Changes, colours: Colours): readonly string[] {
  const lines = [
    ...changes.created.map((path) => colours.green(`  + ${safeLine(path)}`)),
    ...changes.changed.map((path) => colours.yellow(`  ~ ${safeLine(path)}`)),
    ...changes.deleted.map((path) => colours.red(`  - ${safeLine(path)}`)),
  ];
  return bounded(lines, MAX_LISTED, (more) => `  … and ${more} more`);
}

/** `Wrote 2 files and deleted 1 in /home/me/project`. */
export function writtenLine({ created, changed, deleted }: Changes, directory: string): string {
  const written = created.length + changed.length;
  const acts = [
    written > 0 ? `wrote ${count(written, "file")}` : "",
    deleted.length > 0 ? `deleted ${written > 0 ? deleted.length : count(deleted.length, "file")}` : "",
  ];
  const words = acts.filter((act) => act !== "").join(" and ");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)} in ${safeLine(directory)}`;
}

const MAX_DIFF_LINES = 500;
const MAX_LINE = 1_000;

/** Unified diffs of the changes that a dry run would make. */
export function previewLines(changes: readonly FileChange[], colours: Colours): readonly string[] {
  return bounded(
    patchLines(changes, colours, MAX_LINE),
    MAX_DIFF_LINES,
    (more) => `… and ${count(more, "more line")}`,
  );
}

function bounded(lines: readonly string[], most: number, rest: (more: number) => string): readonly string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most), rest(lines.length - most)];
}

export function notWrittenLines(notWritten: readonly NotWritten[]): readonly string[] {
  const lines = notWritten.map(({ path, reason }) => `Not written: ${safeLine(path)}: ${reason}`);
  return bounded(lines, MAX_LISTED, (more) => `… and ${more} more not written`);
}
