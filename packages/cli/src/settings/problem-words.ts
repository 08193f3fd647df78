/** Words for what is wrong in settings: the key, what was expected, and what is there. */

import { isRecord } from "deepwright/check-options";
import type { z } from "zod";
import { safeLine } from "../terminal/safe-text.ts";
import { HOOK_EVENTS } from "./hook-events.ts";
import { settingsSchema } from "./schema.ts";

const MOST_NAMED = 5;

export function problemWords(issues: readonly z.core.$ZodIssue[], given: unknown): string {
  const words = issues.flatMap((issue) => issueWords(issue, given));
  const more = words.length - MOST_NAMED;
  return words.slice(0, MOST_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function issueWords(issue: z.core.$ZodIssue, given: unknown): readonly string[] {
  const place = issue.path.map((part) => safeLine(String(part), 80)).join(".");
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => {
      const name = safeLine([place, key].filter(Boolean).join("."), 120);
      return `unknown key '${name}'${adviceFor(place, key)}`;
    });
  const expected = expectedWords(issue);
  const found = foundAt(given, issue.path);
  const but = found === undefined ? "" : `, but it is ${safeLine(JSON.stringify(found), 80)}`;
  return [`${place === "" ? "the file" : `'${place}'`} ${expected}${but}`];
}

function adviceFor(place: string, key: string): string {
  if (place === "hooks") return ` (known are ${listed(HOOK_EVENTS)})`;
  const near = place === "" ? nearest(key, Object.keys(settingsSchema.shape)) : undefined;
  return near === undefined ? "" : ` (did you mean '${near}'?)`;
}

function expectedWords(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value") return `must be ${listed(issue.values.map(String))}`;
  if (issue.code === "invalid_type") return `must be ${NAMES[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_small") return `must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  return /^must /.test(issue.message) ? issue.message : `is not valid: ${issue.message}`;
}

const NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "an object",
  record: "an object",
};

function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}

function foundAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const name of path) {
    if (!isRecord(value) && !Array.isArray(value)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[name];
  }
  return value;
}

/** The known name that differs in at most two letters, or in case. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => [name, distance(given.toLowerCase(), name.toLowerCase())] as const)
    .toSorted(([, a], [, b]) => a - b);
  const [best] = ranked;
  return best && best[1] <= 2 ? best[0] : undefined;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(
        Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
