/**
 * Draws on the normal screen. Committed rows are written once and belong to the terminal's scrollback from then on.
 * Below them stands the live region, the only rows that are ever redrawn.
 */
import { visibleWidth } from "@earendil-works/pi-tui";
import { safeRow, takeCaret } from "./safe-rows.ts";

export interface ScreenOutput {
  write(text: string): unknown;
  readonly columns: number;
  readonly rows: number;
}

export interface DriverOptions {
  /** Milliseconds between two frames at least. Default 33: 30 frames a second. */
  readonly frameMs?: number;
  /** Whether the terminal wraps rows again when it becomes narrower, as nearly all do. Default true. */
  readonly reflows?: boolean;
}

/** The rows of the live region for a size; the caret is marked with CARET. */
export type LiveView = (width: number, rows: number) => readonly string[];

const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";

interface Drawn {
  readonly rows: readonly string[];
  readonly caret: { readonly row: number; readonly column: number };
}

const NOTHING: Drawn = { rows: [], caret: { row: 0, column: 0 } };

export class ScreenDriver {
  private waiting: string[] = [];
  private drawn: Drawn = NOTHING;
  private size: { columns: number; rows: number };
  private timer: NodeJS.Timeout | undefined;
  private lastFrame = 0;
  private isPaused = false;
  private readonly frameMs: number;
  private readonly reflows: boolean;

  constructor(
    private readonly output: ScreenOutput,
    private readonly view: LiveView,
    { frameMs = 33, reflows = true }: DriverOptions = {},
  ) {
    this.frameMs = frameMs;
    this.reflows = reflows;
    this.size = { columns: output.columns, rows: output.rows };
  }

  /** Columns of a row. */
  get width(): number {
    return Math.max(this.output.columns, 10);
  }

  /** Rows that go to the scrollback with the next frame, in this order, once. */
  commit(rows: readonly string[]): void {
    this.waiting.push(...rows);
    this.request();
  }

  /** Asks for a frame soon; many requests make one frame. */
  request(): void {
    if (this.timer !== undefined || this.isPaused) return;
    const wait = Math.max(0, this.lastFrame + this.frameMs - Date.now());
    this.timer = setTimeout(() => this.frame(), wait);
  }

  /** Draws now. */
  frame(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isPaused) return;
    this.lastFrame = Date.now();
    const resized = this.size.columns !== this.output.columns || this.size.rows !== this.output.rows;
    const top = this.toTop(resized);
    this.size = { columns: this.output.columns, rows: this.output.rows };
    const next = this.nextRegion();
    const committed = this.waiting.map((row) => safeRow(row, this.width));
    this.waiting = [];
    const changes =
      resized || committed.length > 0
        ? `${top}\x1b[J${committed.map((row) => `${row}\x1b[0m\r\n`).join("")}${next.rows.join("\r\n")}`
        : this.difference(next);
    const from = resized || committed.length > 0 ? Math.max(next.rows.length - 1, 0) : next.caret.row;
    if (changes === "" && same(next.caret, this.drawn.caret)) return;
    this.drawn = next;
    this.output.write(`${BEGIN}${changes}${moved(from, next.caret)}${SHOW_CURSOR}${END}`);
  }

  /** Removes the live region, so that something else can use the terminal. `resume` draws it again. */
  pause(): void {
    this.frame();
    clearTimeout(this.timer);
    this.timer = undefined;
    this.output.write(`${this.toTop(false)}\x1b[J${SHOW_CURSOR}`);
    this.drawn = NOTHING;
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.request();
  }

  /** Writes what is committed, removes the live region and stops. */
  close(): void {
    if (!this.isPaused) this.pause();
  }

  private nextRegion(): Drawn {
    const most = Math.max(this.output.rows - 1, 1);
    const { rows, caret } = takeCaret(this.view(this.width, most).slice(-most));
    const safe = rows.map((row) => safeRow(row, this.width));
    const last = Math.max(safe.length - 1, 0);
    return { rows: safe, caret: caret ?? { row: last, column: visibleWidth(safe[last] ?? "") } };
  }

  /** Moves to the first row of the live region. */
  private toTop(resized: boolean): string {
    const { rows, caret } = this.drawn;
    const columns = Math.max(this.output.columns, 1);
    const above =
      resized && this.reflows
        ? rows.slice(0, caret.row).reduce((sum, row) => sum + height(row, columns), 0) +
          Math.floor(caret.column / columns)
        : caret.row;
    return `\r${up(above)}`;
  }

  /** The rows that changed, each written in place; the cursor ends in the row of the next caret. */
  private difference(next: Drawn): string {
    const { rows: before, caret } = this.drawn;
    let text = "";
    let at = caret.row;
    const go = (row: number): void => {
      // A row below the last one drawn is made by a line feed, which may scroll.
      for (; at < row; at++) text += at + 1 < Math.max(before.length, 1) ? "\x1b[B" : "\r\n";
      text += up(at - row);
      at = row;
    };
    for (const [index, row] of next.rows.entries()) {
      if (row === before[index]) continue;
      go(index);
      text += `\r${row}\x1b[0m\x1b[K`;
    }
    if (before.length > next.rows.length) {
      go(next.rows.length);
      text += "\r\x1b[J";
    }
    if (text === "" && at === next.caret.row) return "";
    go(next.caret.row);
    return text;
  }
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function moved(from: number, { row, column }: Drawn["caret"]): string {
  return `\x1b[0m${up(from - row)}\r${column > 0 ? `\x1b[${column}C` : ""}`;
}

function height(row: string, columns: number): number {
  return Math.max(1, Math.ceil(visibleWidth(row) / columns));
}

function same(one: Drawn["caret"], other: Drawn["caret"]): boolean {
  return one.row === other.row && one.column === other.column;
}
