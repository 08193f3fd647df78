/** Moments as callers and models give them. */

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** A date, an age in seconds, or a text that is one of them (`2026-01-31`, `6h`); null for anything else. */
export function momentOf(given: Date | number | string, now: number): string | null {
  if (given instanceof Date) return isoOf(given.getTime());
  if (typeof given === "number") return given >= 0 ? isoOf(now - given * 1_000) : null;
  const text = given.trim();
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([smhdw])$/i.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined)
    return isoOf(now - Number(amount) * (SECONDS[unit.toLowerCase()] as number) * 1_000);
  return /^\d{4}-/.test(text) ? isoOf(Date.parse(text)) : null;
}

function isoOf(milliseconds: number): string | null {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
