/** Rest of a glob below a directory where it does not begin. */
import { expandBraces } from "../../text/glob/glob-braces.ts";
import { compileName } from "../../text/glob/glob-name.ts";

/**
 * The pattern for the files in the directory `root` that the `names` lead to from where the pattern begins;
 * undefined when no file there can match. The pattern must be one that compiles. One that began with a slash
 * still does.
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

/** Every way the names can be taken up by the first levels, and what then remains. */
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
