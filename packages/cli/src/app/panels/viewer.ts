/** A text to read: scrolls in the live region, and leaves no trace in the scrollback. */
import { matchesKey } from "@earendil-works/pi-tui";
import type { Theme } from "../view/theme.ts";
import type { Panel } from "./panel.ts";

export interface ViewedPage {
  readonly title: string;
  readonly rows: (width: number) => readonly string[];
}

export class Viewer implements Panel {
  readonly isTall = true;
  private top = 0;
  private page: number;
  private height = 10;

  constructor(
    private readonly pages: readonly ViewedPage[],
    private readonly theme: Theme,
    private readonly onClose: () => void,
  ) {
    this.page = pages.length - 1;
  }

  rows(width: number, rows: number): readonly string[] {
    const page = this.pages[this.page];
    if (!page) return [];
    const all = page.rows(width);
    this.height = Math.max(rows - 2, 1);
    this.top = Math.max(0, Math.min(this.top, all.length - this.height));
    const place = this.pages.length > 1 ? ` (${this.page + 1} of ${this.pages.length}, ←→)` : "";
    const more =
      all.length > this.height
        ? ` · ${this.top + 1}–${Math.min(this.top + this.height, all.length)} of ${all.length}`
        : "";
    return [
      this.theme.accent(`── ${page.title}${place}${more}`),
      ...all.slice(this.top, this.top + this.height),
      this.theme.dim("  ↑↓ PgUp PgDn scroll · Esc closes"),
    ];
  }

  handle(data: string): void {
    if (
      matchesKey(data, "escape") ||
      matchesKey(data, "ctrl+c") ||
      matchesKey(data, "ctrl+o") ||
      data === "q"
    )
      this.onClose();
    else if (matchesKey(data, "up")) this.top -= 1;
    else if (matchesKey(data, "down")) this.top += 1;
    else if (matchesKey(data, "pageUp")) this.top -= this.height;
    else if (matchesKey(data, "pageDown") || matchesKey(data, "space")) this.top += this.height;
    else if (matchesKey(data, "left")) this.turn(-1);
    else if (matchesKey(data, "right")) this.turn(1);
  }

  private turn(by: number): void {
    this.page = Math.max(0, Math.min(this.page + by, this.pages.length - 1));
    this.top = 0;
  }
}
