/** Where a conversation is cut: decided from kinds and sizes alone. */

/** A message of a request. A note stands behind a message of the thread and goes with it. */
export interface Piece {
  readonly kind: "human" | "ai" | "tool" | "note";
  readonly tokens: number;
}

export interface CutGoal {
  /** Tokens that the kept messages should take. */
  readonly keepTokens: number;
  readonly keepMessages: number;
  /** Tokens they may take if that keeps the newest request of a person; never more messages, though. */
  readonly reach: number;
  /** Tokens they may take at most. */
  readonly room: number;
}

/**
 * The position of the first piece that is kept; 0 keeps all. A call is never parted from its results, and
 * the last turn is always kept, also when it alone takes more than there is room for.
 */
export function chooseCut(pieces: readonly Piece[], goal: CutGoal): number {
  const tails = tailSizes(pieces);
  const starts = turnStarts(pieces);
  const last = starts.at(-1) ?? 0;
  const fits = (start: number): boolean =>
    tails[start]! <= goal.keepTokens && messagesFrom(pieces, start) <= goal.keepMessages;
  const wanted = starts.find(fits) ?? last;
  const human = pieces.findLastIndex(({ kind }) => kind === "human");
  const isReachable =
    human > 0 && tails[human]! <= goal.reach && messagesFrom(pieces, human) <= goal.keepMessages;
  const reached = isReachable && human < wanted ? human : wanted;
  if (tails[reached]! <= goal.room) return reached;
  return starts.find((start) => start > reached && tails[start]! <= goal.room) ?? last;
}

/** Where a request may begin: not with a result, and not with a note. */
export function turnStarts(pieces: readonly Piece[]): number[] {
  const starts = [0];
  for (let i = 1; i < pieces.length; i += 1) {
    const { kind } = pieces[i] as Piece;
    if (kind === "human" || kind === "ai") starts.push(i);
  }
  return starts;
}

function tailSizes(pieces: readonly Piece[]): number[] {
  const sizes = new Array<number>(pieces.length).fill(0);
  let sum = 0;
  for (let i = pieces.length - 1; i >= 0; i -= 1) {
    sum += (pieces[i] as Piece).tokens;
    sizes[i] = sum;
  }
  return sizes.length === 0 ? [0] : sizes;
}

function messagesFrom(pieces: readonly Piece[], start: number): number {
  let count = 0;
  for (let i = start; i < pieces.length; i += 1) if (pieces[i]?.kind !== "note") count += 1;
  return count;
}

/**
 * The size to which the larger sizes must be cut so that all fit into the room together: small ones stay. Infinity when
 * all fit.
 */
export function waterLevel(sizes: readonly number[], room: number): number {
  let rest = room;
  const sorted = sizes.toSorted((a, b) => a - b);
  for (const [i, size] of sorted.entries()) {
    const level = rest / (sorted.length - i);
    if (size > level) return Math.max(0, Math.floor(level));
    rest -= size;
  }
  return Infinity;
}
