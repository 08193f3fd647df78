/** Differences between two catalogs, in words for the model. */
import type { Catalog } from "./load-skills.ts";
import type { SkillMetadata } from "./skill-metadata.ts";
import { line, shown } from "./skills-section.ts";

const MAX_LINES = 20;

/** Undefined when there is nothing to tell. */
export function changeWords(before: Catalog, after: Catalog): string | undefined {
  if (before === after) return undefined;
  const old = byName(before);
  const now = byName(after);
  const lines: string[] = [];
  for (const [name, skill] of now) {
    const known = old.get(name);
    const text = line(skill, skill.path);
    if (known === undefined) lines.push(`${text} (new)`);
    else if (line(known, known.path) !== text) lines.push(`${text} (changed)`);
  }
  for (const name of old.keys()) if (!now.has(name)) lines.push(`- ${shown(name)} (gone)`);
  const shownBefore = new Set(before.warnings.map(({ message }) => message));
  for (const { message } of after.warnings)
    if (!shownBefore.has(message)) lines.push(`- Warning: ${shown(message)}`);
  if (lines.length === 0) return undefined;
  const rest = lines.length > MAX_LINES ? [`- and ${lines.length - MAX_LINES} more`] : [];
  return ["The skills have changed:", ...lines.slice(0, MAX_LINES), ...rest].join("\n");
}

function byName({ groups }: Catalog): Map<string, SkillMetadata> {
  return new Map(groups.flatMap(({ skills }) => skills.map((skill) => [skill.name, skill] as const)));
}
