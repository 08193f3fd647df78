/** Ages, sizes, numbers and steps as people type them. */
import { usageError } from "../command-error.ts";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const BYTES: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/** `30d` in seconds. */
export function ageOf(text: string, option: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([smhdw])$/i.exec(text.trim()) ?? [];
  if (amount !== undefined && unit !== undefined)
    return Number(amount) * (SECONDS[unit.toLowerCase()] as number);
  throw usageError(`${option} must be an age such as 30d, 12h or 90m, but it is '${text}'.`);
}

/** `1g` in bytes. */
export function sizeOf(text: string, option: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(text.trim()) ?? [];
  if (amount !== undefined && unit !== undefined)
    return Math.floor(Number(amount) * (BYTES[unit.toLowerCase()] as number));
  throw usageError(`${option} must be a size such as 500m or 1g, but it is '${text}'.`);
}

export function wholeNumber(text: string, option: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text.trim()) && number >= 1 && Number.isSafeInteger(number)) return number;
  throw usageError(`${option} must be a whole number of at least 1, but it is '${text}'.`);
}

/** A number of `show`, or a checkpoint id as it is. */
export function stepOf(text: string): number | string {
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text;
}
