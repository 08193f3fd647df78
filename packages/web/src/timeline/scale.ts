/** Places of moments on a line. Pauses in which nobody works are short on it, however long they took. */
import type { Span } from "./spans.ts";

export interface Scale {
  readonly begin: number;
  /** From 0 to 1. */
  readonly place: (moment: number) => number;
}

/** A pause takes at most this part of the time at work. */
const MOST_PAUSE = 0.06;

export function scaleOf(spans: readonly Span[], now: number): Scale {
  const busy = busyTimes(spans, now);
  const begin = busy[0]?.[0] ?? now;
  const atWork = busy.reduce((sum, [from, to]) => sum + to - from, 0) || 1;
  /** Each a moment and its place, in the order of time. */
  const knots: (readonly [number, number])[] = [];
  let place = 0;
  let last: number | undefined;
  for (const [from, to] of busy) {
    if (last !== undefined) place += Math.min(from - last, atWork * MOST_PAUSE);
    knots.push([from, place]);
    place += to - from;
    knots.push([to, place]);
    last = to;
  }
  const length = place || 1;
  return { begin, place: (moment) => between(knots, moment) / length };
}

function busyTimes(spans: readonly Span[], now: number): (readonly [number, number])[] {
  const sorted = spans
    .filter(({ kind }) => kind !== "wait")
    .map(({ from, to = now }) => [from, to] as const)
    .sort(([one], [other]) => one - other);
  const busy: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = busy.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else busy.push([from, to]);
  }
  return busy;
}

function between(knots: readonly (readonly [number, number])[], moment: number): number {
  const next = knots.findIndex(([at]) => at >= moment);
  if (next === -1) return knots.at(-1)?.[1] ?? 0;
  const [to, placeTo] = knots[next] ?? [moment, 0];
  const [from, placeFrom] = knots[next - 1] ?? [to, placeTo];
  return to === from ? placeTo : placeFrom + ((moment - from) / (to - from)) * (placeTo - placeFrom);
}

/** Rows of spans, so that those at the same time stand below each other. */
export function rowsOf(spans: readonly Span[], now: number): readonly (readonly Span[])[] {
  const rows: Span[][] = [];
  for (const span of [...spans].sort((one, other) => one.from - other.from)) {
    const row = rows.find((one) => (one.at(-1)?.to ?? now) <= span.from);
    if (row) row.push(span);
    else rows.push([span]);
  }
  return rows;
}
