/** A line that changes in place during long work; nothing if stderr is not a terminal. */
import type { Output } from "./console.ts";
import { safeLine } from "./safe-text.ts";

const EVERY_MS = 100;
const ERASE = "\r\x1b[2K";

export class Progress {
  private last = 0;
  private isShown = false;

  constructor(private readonly stderr: Output) {}

  show(text: string): void {
    const now = Date.now();
    if (this.stderr.isTTY !== true || now - this.last < EVERY_MS) return;
    this.last = now;
    this.isShown = true;
    this.stderr.write(`${ERASE}${safeLine(text, Math.max(this.stderr.columns ?? 100, 40) - 1)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.isShown) this.stderr.write(ERASE);
    this.isShown = false;
  }
}
