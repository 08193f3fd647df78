/** A preview of a restore: its files, and the beginning of their diffs. */
import { patchLines, rewindLines, type ShownReport } from "../../threads/lines.ts";
import { realFiles } from "../../threads/put-aside.ts";
import type { CommandHost } from "./command.ts";

const MOST_LINES = 30;

export async function previewLines(
  { theme }: Pick<CommandHost, "theme">,
  plan: ShownReport,
): Promise<string[]> {
  const { default: pc } = await import("picocolors");
  const patches = patchLines(realFiles(plan.restored), pc.createColors(theme.hasColour));
  const more = patches.length - MOST_LINES;
  const rest = more > 0 ? [`  … and ${more} more lines of diffs`] : [];
  return [...rewindLines(plan), ...patches.slice(0, MOST_LINES), ...rest];
}
