/** Rows of text under headings, as lines. */

export interface Column {
  readonly heading: string;
  /** Numbers end where their heading ends. */
  readonly isNumber?: boolean;
}

/** The texts must be safe and of one line. The last column is as long as it likes. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map(({ heading }) => heading), ...rows];
  const widths = columns.map((_, i) => all.reduce((most, row) => Math.max(most, lengthOf(row[i] ?? "")), 0));
  return all.map((row) =>
    columns
      .map(({ isNumber }, i) => padded(row[i] ?? "", widths[i] as number, isNumber === true))
      .join("  ")
      .trimEnd(),
  );
}

function padded(text: string, width: number, isNumber: boolean): string {
  const space = " ".repeat(Math.max(0, width - lengthOf(text)));
  return isNumber ? space + text : text + space;
}

function lengthOf(text: string): number {
  return [...text].length;
}
