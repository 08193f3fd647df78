/** Reads back what our file tools show a model. */

/** The paths of `ls` or `glob`, one a line; remarks in brackets are no paths. */
export function listedPaths(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith("/"));
}

/** The result is the beginning and the end of a longer one. */
export function isCut(text: string): boolean {
  return text.startsWith("[This result is too long");
}

export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The matches of `grep`: a path with a colon, then its numbered lines. */
export function foundLines(text: string): readonly FoundLine[] {
  const found: FoundLine[] = [];
  let path = "";
  for (const row of text.split("\n")) {
    const numbered = NUMBERED.exec(row);
    if (numbered) found.push({ path, line: Number(numbered[1]), text: numbered[2] ?? "" });
    else if (row.startsWith("/") && row.endsWith(":")) path = row.slice(0, -1);
  }
  return found;
}

const NUMBERED = /^ *(\d+)│(.*)$/;

/** The text of a page of `read_file`, without its numbers. */
export function pageText(page: string): string {
  return page
    .split("\n")
    .map((row) => NUMBERED.exec(row)?.[2])
    .filter((line) => line !== undefined)
    .join("\n");
}

/** How many lines the whole file has, as far as the page tells. */
export function totalLines(page: string): number | undefined {
  const range = /\n\[Lines \d+-\d+ of (\d+)[^\n]*\]$/.exec(page);
  if (range) return Number(range[1]);
  const last = page.split("\n").findLast((row) => NUMBERED.test(row));
  return last === undefined ? undefined : Number(NUMBERED.exec(last)?.[1]);
}
