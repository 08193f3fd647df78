/** The content of a file after some of its changes are taken back or made again. */
import { sameEntry, whyNotKept } from "deepwright/internal";
import { mergeEntries } from "./merge.ts";
import type { Entry, FileTimeline, Link } from "./timeline.ts";

/** Changes of a file to make, in this order. */
export interface Move {
  readonly from: () => Promise<Entry>;
  readonly to: () => Promise<Entry>;
  /** The change is made again, not taken back. */
  readonly isForward?: boolean;
}

export interface Choice {
  /** Changes to take back. */
  readonly undone: (link: Link) => boolean;
  /** Changes to make again, after that. */
  readonly redone: (link: Link) => boolean;
}

/** Changes of others are never taken back, and a rewind is no change of an agent. */
export function isOfAgent({ by }: Link): boolean {
  return by.kind !== "outside" && by.kind !== "rewind";
}

export function movesOf({ links }: FileTimeline, { undone, redone }: Choice): Move[] {
  const own = links.filter(isOfAgent);
  const back = own.filter(undone).toReversed();
  return [
    ...back.map((link) => ({ from: link.after, to: link.before })),
    ...own.filter(redone).map((link) => ({ from: link.before, to: link.after, isForward: true })),
  ];
}

export type Plan =
  | { readonly kind: "nothing" }
  | { readonly kind: "write"; readonly entry: Entry; readonly isMerge: boolean }
  /** `wanted` is what the file would be without the changes of others. */
  | { readonly kind: "conflict"; readonly wanted: Entry }
  /** Neither the content that is wanted nor the present one is kept, so it stays. */
  | { readonly kind: "not-kept"; readonly reason: string };

/** `current` is what lies there now. */
export async function planFor(current: Entry, moves: readonly Move[]): Promise<Plan> {
  const last = moves.at(-1);
  if (last === undefined) return { kind: "nothing" };
  const wanted = await last.to();
  if (sameEntry(current, wanted)) return { kind: "nothing" };
  if (wanted?.type === "not-kept") return { kind: "not-kept", reason: whyNotKept(wanted) };
  // Between two kinds of entries there is a moment with none; a restore that was killed then goes on here.
  const from = await moves[0]?.from();
  if (current?.type === "directory" && from?.type === "not-kept" && from.reason === "ignored")
    return { kind: "not-kept", reason: MADE };
  if (current === undefined && from !== undefined && wanted !== undefined && from.type !== wanted.type)
    return { kind: "write", entry: wanted, isMerge: false };
  let entry = current;
  let isMerge = false;
  for (const { from, to } of moves.slice(await firstMove(current, moves))) {
    const [base, next] = [await from(), await to()];
    isMerge ||= !sameEntry(entry, base);
    const { merged } = mergeEntries(base, entry, next);
    if (merged === undefined || merged.entry?.type === "not-kept") return { kind: "conflict", wanted };
    entry = merged.entry;
  }
  if (sameEntry(entry, current)) return { kind: "nothing" };
  return { kind: "write", entry, isMerge };
}

const MADE = "It is a directory that a tool fills again. It was not there before, and stays.";

/** A restore that was broken off left the file somewhere on the way. */
async function firstMove(current: Entry, moves: readonly Move[]): Promise<number> {
  for (const [index, { from }] of moves.entries()) if (sameEntry(await from(), current)) return index;
  return 0;
}
