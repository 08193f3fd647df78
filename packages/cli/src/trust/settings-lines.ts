/** Lines about the programs and permissions in a project's settings, for the trust question. */
import { splitByPower } from "../settings/powers.ts";
import { parseSettings } from "../settings/settings-file.ts";
import { revealedLine } from "../terminal/revealed-text.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { type InstructionFile, SETTINGS } from "./instruction-files.ts";

/** A line for each value; throws where a file is no valid settings. */
export async function settingsLines(files: readonly InstructionFile[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { path, text } of files) {
    if (!SETTINGS.includes(path) || text === undefined) continue;
    const settings = await parseSettings(text, path);
    for (const key of splitByPower(settings).held) {
      const value =
        key === "commands.allow" ? settings.commands?.allow : settings[key as keyof typeof settings];
      const shown = revealedLine(JSON.stringify(value));
      lines.push(`  ${safeLine(path)} ${key}: ${shown}`);
    }
  }
  return lines;
}

/** The memory files that settings of the project name. */
export async function memoryNames(settings: readonly InstructionFile[]): Promise<readonly string[]> {
  const parsed = await Promise.all(settings.map(({ path, text = "" }) => parseSettings(text, path)));
  return [...new Set(parsed.flatMap(({ memory }) => memory?.files ?? []))];
}
