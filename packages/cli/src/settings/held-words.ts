/** Words about a project's settings that do not count. */
import { safeLine } from "../terminal/safe-text.ts";
import type { HeldSettings } from "./load-settings.ts";

/** One line; undefined where all count. */
export function heldLine(held: HeldSettings | undefined): string | undefined {
  if (held === undefined) return undefined;
  const keys = held.keys.map((key) => safeLine(key, 60)).join(", ");
  const why = held.hasChanged ? "Changed since you trusted them" : "Not trusted";
  const files = held.files.map((path) => safeLine(path)).join(" and ");
  return `${why}: ${keys} in ${files} ${held.keys.length > 1 ? "do" : "does"} not count. To look at it and trust it: deepwright trust`;
}
