/** Lines about what commands changed. */
import type { CommandWork } from "../../commands/command-work.ts";
import { count } from "../../terminal/amounts.ts";
import type { Colours } from "../../terminal/console.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { changeLines } from "./workspace-lines.ts";

const MAX_LISTED = 30;

export function commandWorkLines(work: CommandWork, colours: Colours): readonly string[] {
  const { count: ran, changed, created = [], deleted } = work;
  const commands = count(ran, "command");
  if (changed === undefined) return [`${commands} ran; the files that changed meanwhile are not known`];
  if (deleted !== undefined) {
    const changes = { created, changed, deleted };
    const number = created.length + changed.length + deleted.length + (work.more ?? 0);
    if (number === 0) return [`${commands} ran and changed nothing`];
    const lines = changeLines(changes, colours);
    const more = work.more ? [`  … and ${work.more} more`] : [];
    return [`${commands} ran and changed:`, ...lines, ...more];
  }
  if (changed.length === 0)
    return [`${commands} ran; no other file changed since (deletions are not counted)`];
  const shown = changed.slice(0, MAX_LISTED).map((path) => colours.yellow(`  ~ ${safeLine(path)}`));
  const more = changed.length - shown.length;
  return [
    `${commands} ran; ${count(changed.length, "other file")} changed since (deletions are not counted):`,
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}
