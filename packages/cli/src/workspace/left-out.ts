/** What of a directory did not make it into the thread, counted and put into words. */
import { bytes, grouped } from "../terminal/amounts.ts";
import type { WorkspaceLimits } from "./limits.ts";

export type LeftOutReason =
  | "ignored"
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
  const words: Record<LeftOutReason, string> = {
    ignored: "ignored",
    secret: "that may hold secrets",
    "not-text": "not text",
    "too-large": `over ${bytes(limits.fileBytes)}`,
    "over-limit": `beyond ${grouped(limits.files)} files or ${bytes(limits.totalBytes)} in all`,
    link: "symbolic links",
    name: "with names an agent cannot use",
    unreadable: "unreadable",
  };
  return Object.entries(words)
    .map(([reason, word]) => ({ word, amount: leftOut.filter((item) => item.reason === reason).length }))
    .filter(({ amount }) => amount > 0)
    .map(({ word, amount }) => `${grouped(amount)} ${word}`)
    .join(", ");
}
