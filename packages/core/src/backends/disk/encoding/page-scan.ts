/**
 * Finds the position of a page of lines in a file whose bytes come chunk by chunk, without decoding them.
 *
 * In every encoding here a line end is a unit of its own that no other character contains: one byte, or two in UTF-16.
 */

const FEED = 10;
const RETURN = 13;
/** Lines up to this long are looked through byte by byte: cheaper than a call. */
const SHORT_LINE = 96;

export interface PageWindow {
  /** Where the text begins: behind a byte order mark. */
  readonly start: number;
  /** Lines before the page. */
  readonly offset: number;
  /** Lines of the page. */
  readonly limit: number;
  readonly maxBytes: number;
  /** How far the end of the first line is looked for; not less than `maxBytes`. */
  readonly maxLineBytes: number;
}

export type UnitKind = "byte" | "utf-16le" | "utf-16be";

export class PageScan {
  /** Lines that have ended so far. */
  lines = 0;
  /** Lines of the page so far. */
  shown = 0;
  /** Where the page begins, and where its last line ends, the line end not included. */
  pageStart: number;
  pageEnd: number;
  /** Where the line begins that comes next. */
  lineStart: number;
  /** Whether no more lines belong to the page. */
  isFull = false;
  /** Whether the page is one line that is longer than a page may be. */
  isCut = false;
  /** Whether the page ends early because it would be too large, so that there is more for certain. */
  isBounded = false;

  private readonly step: 1 | 2;
  private afterReturn = false;
  private nextReturn = -1;

  constructor(
    private readonly window: PageWindow,
    private readonly unit: UnitKind,
  ) {
    this.step = unit === "byte" ? 1 : 2;
    this.lineStart = window.start;
    this.pageStart = window.start;
    this.pageEnd = window.start;
  }

  /** `base` is the position of the chunk in the file. With `pageOnly` it stops where the page is full. */
  feed(chunk: Buffer, base: number, pageOnly: boolean): void {
    this.nextReturn = -1;
    let at = Math.max(0, this.lineStart - base);
    if (this.afterReturn && chunk.length > 0) {
      this.afterReturn = false;
      if (this.unitAt(chunk, at) === FEED) {
        at += this.step;
        this.lineStart += this.step;
      }
    }
    while (!(pageOnly && this.isFull)) {
      const end = this.lineEnd(chunk, at);
      if (end < 0) break;
      at = this.afterEnd(chunk, end);
      this.endLine(base + end, base + at);
    }
    if (this.isFull) return;
    this.bound(base + chunk.length);
    this.giveUp(base + chunk.length);
  }

  /** The file ends at `end`; a last line may have no line end. */
  finish(end: number): void {
    if (this.lineStart < end) this.endLine(end, end);
  }

  /** At the end of the file. */
  get hasMoreLines(): boolean {
    return this.lines > this.window.offset + this.shown;
  }

  /** Whether lines stand behind the page, as far as the file was read, up to `position`. */
  hasMoreBefore(position: number): boolean {
    return this.isBounded || this.lineStart < position;
  }

  private endLine(end: number, after: number): void {
    if (this.lines >= this.window.offset && !this.isFull) {
      this.bound(end);
      if (!this.isFull) this.addLine(end);
    }
    this.lineStart = after;
    this.lines += 1;
  }

  private addLine(end: number): void {
    const { limit, maxBytes } = this.window;
    if (this.shown === 0) this.pageStart = this.lineStart;
    this.isCut = end - this.pageStart > maxBytes;
    this.pageEnd = this.isCut ? this.pageStart + maxBytes : end;
    this.shown += 1;
    this.isFull = this.isCut || this.shown === limit;
  }

  /** The page ends before a line that would make it too large, unless that is its first. */
  private bound(end: number): void {
    if (this.shown === 0 || end - this.pageStart <= this.window.maxBytes) return;
    this.isFull = true;
    this.isBounded = true;
  }

  /** The end of an enormous line is not looked for forever: the page is its beginning. */
  private giveUp(end: number): void {
    const { offset, maxLineBytes } = this.window;
    if (this.shown > 0 || this.lines < offset || end - this.lineStart <= maxLineBytes) return;
    this.addLine(end);
    this.isBounded = true;
  }

  /** The index of the next line end; -1 when the chunk has none. */
  private lineEnd(chunk: Buffer, from: number): number {
    if (this.step === 2) return this.wideLineEnd(chunk, from);
    const near = Math.min(chunk.length, from + SHORT_LINE);
    for (let at = from; at < near; at++) {
      const byte = chunk[at];
      if (byte === FEED || byte === RETURN) return at;
    }
    if (near === chunk.length) return -1;
    if (this.nextReturn < near) {
      const found = chunk.indexOf(RETURN, near);
      this.nextReturn = found === -1 ? chunk.length : found;
    }
    const feed = chunk.indexOf(FEED, near);
    const end = feed === -1 ? this.nextReturn : Math.min(feed, this.nextReturn);
    return end === chunk.length ? -1 : end;
  }

  private wideLineEnd(chunk: Buffer, from: number): number {
    for (let at = from; at + 1 < chunk.length; at += 2) {
      const unit = this.unitAt(chunk, at);
      if (unit === FEED || unit === RETURN) return at;
    }
    return -1;
  }

  private afterEnd(chunk: Buffer, end: number): number {
    const after = end + this.step;
    if (this.unitAt(chunk, end) !== RETURN) return after;
    if (after >= chunk.length) this.afterReturn = true;
    return this.unitAt(chunk, after) === FEED ? after + this.step : after;
  }

  private unitAt(chunk: Buffer, at: number): number {
    const first = chunk[at] ?? 0;
    if (this.unit === "byte") return first;
    const second = chunk[at + 1] ?? 0;
    return this.unit === "utf-16be" ? first * 256 + second : second * 256 + first;
  }
}
