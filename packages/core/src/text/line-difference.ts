const CONTEXT_LINES = 2;

/** The stretch of lines that differs, marked with `-` and `+`, and lines around it. `""`: none differs. */
export function lineDifference(before: string, now: string): string {
  if (before === now) return "";
  const old = before.split("\n");
  const fresh = now.split("\n");
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  const lines = [
    ...fresh.slice(Math.max(0, start - CONTEXT_LINES), start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+${line}`),
    ...fresh
      .slice(fresh.length - end)
      .slice(0, CONTEXT_LINES)
      .map((line) => ` ${line}`),
  ];
  return lines.join("\n");
}
