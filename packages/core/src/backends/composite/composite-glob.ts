/** Rest of a glob below a directory where it does not begin. */
import { expandBraces } from "../../text/glob/glob-braces.ts";
import { compileName } from "../../text/glob/glob-name.ts";

/**
 * The pattern for the files in the directory `root`, which `names` lead to from the start of the pattern. Undefined
 * when no file there can match. The pattern must compile. A leading slash is kept.
 */
export function globBelow(pattern: string, names: readonly string[], root: string): string | undefined {
  const rests = new Set<string>();
  for (const alternative of expandBraces(pattern) ?? [])
    for (const rest of restsOf(levelsOf(alternative), names))
      rests.add(rest.length === 1 || alternative.startsWith("/") ? anchored(rest, root) : rest.join("/"));
  if (rests.size <= 1) return [...rests][0];
  return `{${[...rests].map((rest) => rest.replaceAll(",", "\\,")).join(",")}}`;
}

function levelsOf(pattern: string): string[] {
  const levels = pattern.split("/").filter((part) => part !== "" && part !== ".");
  if (levels.length === 0) return levels;
  if (!pattern.includes("/")) levels.unshift("**");
  if (pattern.endsWith("/")) levels.push("**");
  if (levels.at(-1) === "**") levels.push("*");
  return levels;
}

/** Every way in which the first levels can match the names, with the remaining levels. */
function restsOf(levels: readonly string[], names: readonly string[]): string[][] {
  let places = reached(levels, [0]);
  for (const name of names) {
    const next = places.flatMap((place) => {
      const level = levels[place];
      if (level === "**") return [place];
      return level !== undefined && compileName(level)(name) ? [place + 1] : [];
    });
    places = reached(levels, next);
  }
  const covered = places.filter((place) => levels[place - 1] !== "**" || !places.includes(place - 1));
  return covered.map((place) => levels.slice(place)).filter((rest) => rest.length > 0);
}

/** `**` may also take nothing. */
function reached(levels: readonly string[], places: readonly number[]): number[] {
  const all = new Set(places);
  for (const place of all) if (levels[place] === "**") all.add(place + 1);
  return [...all];
}

/** A single level would match at any depth, were it not for the slash. */
function anchored(rest: readonly string[], root: string): string {
  const directory = root === "/" ? "" : root.replace(/[*?[\]{}!\\,]/g, "\\$&");
  return `${directory}/${rest.join("/")}`;
}
