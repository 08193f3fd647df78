/** Shows lines a screen at a time. */

import { grouped } from "./amounts.ts";
import type { Prompt } from "./prompt.ts";

/** The lines must be safe; `rows` is the height of the screen. Returns when the person has seen enough. */
export async function paged(
  lines: readonly string[],
  rows: number,
  say: (line: string) => void,
  prompt: Prompt,
): Promise<void> {
  const page = Math.max(rows - 2, 5);
  for (let at = 0; at < lines.length; ) {
    const end = Math.min(at + page, lines.length);
    for (const line of lines.slice(at, end)) say(line);
    if (end === lines.length) return;
    const place = `${grouped(at + 1)} to ${grouped(end)} of ${grouped(lines.length)} rows`;
    const answer = await prompt.line(`-- ${place} · Enter: on, e: the end, q: enough -- `);
    if (/^q/i.test(answer.trim())) return;
    at = /^e/i.test(answer.trim()) ? Math.max(lines.length - page, end) : end;
  }
}
