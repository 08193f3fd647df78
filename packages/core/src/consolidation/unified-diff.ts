/** Two texts compared line by line, as patches show it. Pure. */

export interface LineChanges {
  /** A unified diff with a header; `""` for equal texts. */
  readonly patch: string;
  /** Lines with words in them that are gone, whatever their order; those that only moved are not. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

const CONTEXT = 3;
/** Comparing longer middles costs more than it tells: they are replaced as a whole. */
const MOST_CELLS = 4_000_000;

/** `undefined` is a file that is not there. */
export function lineChanges(
  path: string,
  before: string | undefined,
  after: string | undefined,
): LineChanges {
  const [old, now] = [linesOf(before ?? ""), linesOf(after ?? "")];
  if (before === after) return { patch: "", removed: [], added: [] };
  const names = [
    before === undefined ? "/dev/null" : `a${path}`,
    after === undefined ? "/dev/null" : `b${path}`,
  ];
  return {
    patch: `--- ${names[0]}\n+++ ${names[1]}\n${hunksOf(editsOf(old, now))}`,
    removed: missingFrom(now, old),
    added: missingFrom(old, now),
  };
}

/** How many lines have words in them. */
export function countLines(text: string): number {
  return linesOf(text).filter((line) => line.trim() !== "").length;
}

/** With their line ends, so that a last line without one differs. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function missingFrom(present: readonly string[], wanted: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of present) left.set(line.trim(), (left.get(line.trim()) ?? 0) + 1);
  return wanted
    .map((line) => line.trim())
    .filter((line) => {
      const found = left.get(line) ?? 0;
      if (found > 0) left.set(line, found - 1);
      return line !== "" && found === 0;
    });
}

interface Edit {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

function editsOf(old: readonly string[], now: readonly string[]): Edit[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ sign: " ", line }));
  return [
    ...same(old.slice(0, start)),
    ...middleEdits(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

/** By the longest common subsequence. */
function middleEdits(old: readonly string[], now: readonly string[]): Edit[] {
  const width = now.length + 1;
  if ((old.length + 1) * width > MOST_CELLS) return replaced(old, now);
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] as number;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      edits.push({ sign: " ", line: old[i] as string });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      edits.push({ sign: "-", line: old[i] as string });
      i += 1;
    } else {
      edits.push({ sign: "+", line: now[j] as string });
      j += 1;
    }
  }
  return [...edits, ...replaced(old.slice(i), now.slice(j))];
}

function replaced(old: readonly string[], now: readonly string[]): Edit[] {
  return [
    ...old.map((line): Edit => ({ sign: "-", line })),
    ...now.map((line): Edit => ({ sign: "+", line })),
  ];
}

function hunksOf(edits: readonly Edit[]): string {
  let text = "";
  let [oldLine, newLine] = [1, 1];
  let place = 0;
  for (const [from, to] of rangesOf(edits)) {
    for (; place < from; place += 1) {
      oldLine += 1;
      newLine += 1;
    }
    const hunk = edits.slice(from, to);
    const oldCount = hunk.filter(({ sign }) => sign !== "+").length;
    const newCount = hunk.filter(({ sign }) => sign !== "-").length;
    text += `@@ -${rangeOf(oldLine, oldCount)} +${rangeOf(newLine, newCount)} @@\n${hunk.map(shown).join("")}`;
    oldLine += oldCount;
    newLine += newCount;
    place = to;
  }
  return text;
}

/** Changes with the lines around them; neighbours whose lines meet are one. */
function rangesOf(edits: readonly Edit[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const [index, { sign }] of edits.entries()) {
    if (sign === " ") continue;
    const last = ranges.at(-1);
    const to = Math.min(index + CONTEXT + 1, edits.length);
    if (last && index - CONTEXT <= last[1]) last[1] = to;
    else ranges.push([Math.max(index - CONTEXT, 0), to]);
  }
  return ranges;
}

/** An empty range names the line before it. */
function rangeOf(line: number, count: number): string {
  return `${count === 0 ? line - 1 : line},${count}`;
}

function shown({ sign, line }: Edit): string {
  return line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}
