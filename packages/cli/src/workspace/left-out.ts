/** What of a directory did not make it into the thread, counted and put into words. */
import { bytes, count, grouped } from "../terminal/amounts.ts";
import type { WorkspaceLimits } from "./limits.ts";

export type LeftOutReason =
  | "ignored"
  | "out"
  | "secret"
  | "not-text"
  | "too-large"
  | "over-limit"
  | "link"
  | "name"
  | "unreadable";

export interface LeftOut {
  readonly reason: LeftOutReason;
  /** Relative to the directory, as the disk spells it: not safe to print as it is. */
  readonly path: string;
}

/** `3 ignored, 1 over 512 KB`; empty when nothing was left out. */
export function leftOutWords(leftOut: readonly LeftOut[], limits: WorkspaceLimits): string {
  const words: Record<LeftOutReason, (amount: number) => string> = {
    ignored: (amount) => `${grouped(amount)} ignored`,
    secret: (amount) => `${grouped(amount)} that may hold secrets`,
    "not-text": (amount) => `${grouped(amount)} not text`,
    "too-large": (amount) => `${grouped(amount)} over ${bytes(limits.fileBytes)}`,
    "over-limit": (amount) =>
      `${grouped(amount)} beyond ${grouped(limits.files)} files or ${bytes(limits.totalBytes)} in all`,
    link: (amount) => count(amount, "symbolic link"),
    name: (amount) => `${grouped(amount)} with ${amount === 1 ? "a name" : "names"} an agent cannot use`,
    unreadable: (amount) => `${grouped(amount)} unreadable`,
    out: () => "the --out directory",
  };
  return Object.entries(words)
    .map(([reason, say]) => ({ say, amount: leftOut.filter((item) => item.reason === reason).length }))
    .filter(({ amount }) => amount > 0)
    .map(({ say, amount }) => say(amount))
    .join(", ");
}
