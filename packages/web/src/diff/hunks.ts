/** A change of a text as rows: unchanged lines around it, removed and added lines, and the words that differ. */
import { diffWordsWithSpace, structuredPatch } from "diff";

export interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
}

export interface Row {
  readonly kind: "same" | "removed" | "added";
  readonly oldLine?: number;
  readonly newLine?: number;
  readonly pieces: readonly Piece[];
}

export interface Hunk {
  readonly rows: readonly Row[];
}

const CONTEXT = 3;
/** Longer lines are compared as wholes. */
const MOST_WORDS = 2_000;
const TIME_MS = 400;

/** Undefined: the comparison takes too long for a page. */
export function hunksOf(before: string, after: string): readonly Hunk[] | undefined {
  const patch = structuredPatch("a", "b", before, after, "", "", { context: CONTEXT, timeout: TIME_MS });
  return patch?.hunks.map(({ oldStart, newStart, lines }) => ({ rows: rowsOf(lines, oldStart, newStart) }));
}

const HUNK_HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Hunks of a unified diff of one file. */
export function hunksOfPatch(patch: string): readonly Hunk[] {
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  for (const line of patch.split("\n")) {
    const head = HUNK_HEAD.exec(line);
    if (head) hunks.push({ oldStart: Number(head[1]), newStart: Number(head[2]), lines: [] });
    else hunks.at(-1)?.lines.push(line);
  }
  return hunks.map(({ oldStart, newStart, lines }) => ({ rows: rowsOf(lines, oldStart, newStart) }));
}

function rowsOf(lines: readonly string[], oldStart: number, newStart: number): readonly Row[] {
  const rows: Row[] = [];
  let [oldLine, newLine] = [oldStart, newStart];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    rows.push(...changedRows(removed, added, oldLine - removed.length, newLine - added.length));
    removed = [];
    added = [];
  };
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith("-")) {
      removed.push(text);
      oldLine += 1;
    } else if (line.startsWith("+")) {
      added.push(text);
      newLine += 1;
    } else if (line.startsWith(" ")) {
      flush();
      rows.push({ kind: "same", oldLine, newLine, pieces: [{ text, isChanged: false }] });
      oldLine += 1;
      newLine += 1;
    }
  }
  flush();
  return rows;
}

/** Lines that took the place of as many others are compared word by word. */
function changedRows(
  removed: readonly string[],
  added: readonly string[],
  oldStart: number,
  newStart: number,
): readonly Row[] {
  const isPaired = removed.length === added.length;
  const pairs = isPaired ? removed.map((line, index) => wordPieces(line, added[index] ?? "")) : [];
  return [
    ...removed.map((text, index) => ({
      kind: "removed" as const,
      oldLine: oldStart + index,
      pieces: pairs[index]?.before ?? whole(text),
    })),
    ...added.map((text, index) => ({
      kind: "added" as const,
      newLine: newStart + index,
      pieces: pairs[index]?.after ?? whole(text),
    })),
  ];
}

const whole = (text: string): readonly Piece[] => [{ text, isChanged: false }];

function wordPieces(before: string, after: string) {
  if (before.length + after.length > MOST_WORDS) return undefined;
  const parts = diffWordsWithSpace(before, after);
  const side = (isLeftOut: "added" | "removed"): readonly Piece[] =>
    parts
      .filter((part) => !part[isLeftOut])
      .map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }));
  return { before: side("added"), after: side("removed") };
}

/** Rows side by side: removed lines beside the added ones that follow them. */
export function sideBySide(rows: readonly Row[]): readonly (readonly [Row | undefined, Row | undefined])[] {
  const pairs: [Row | undefined, Row | undefined][] = [];
  let removed: Row[] = [];
  let added: Row[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) pairs.push([removed[i], added[i]]);
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "removed") removed.push(row);
    else if (row.kind === "added") added.push(row);
    else {
      flush();
      pairs.push([row, row]);
    }
  }
  flush();
  return pairs;
}
