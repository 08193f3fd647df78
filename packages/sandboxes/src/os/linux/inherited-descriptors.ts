/**
 * Descriptors that this process was started with, or that some addon opened, and that every program it starts would
 * get: a directory among them is a way out of any sandbox.
 */
import { readdirSync, readFileSync } from "node:fs";

const CLOSED_ON_START = 0o2000000;
const FIRST = 3;

/** Descriptors 3, 4, … of a program that gets `given` alone; `nothing` replaces every other one. */
export function withoutInherited(given: readonly number[], nothing: number): readonly (number | undefined)[] {
  const descriptors: (number | undefined)[] = [...given];
  for (const inherited of inheritedDescriptors()) {
    const at = inherited - FIRST;
    while (descriptors.length <= at) descriptors.push(undefined);
    descriptors[at] ??= nothing;
  }
  return descriptors;
}

/** None where the system does not tell: macOS hands on only what is named. */
function inheritedDescriptors(): number[] {
  let names: string[];
  try {
    names = readdirSync("/proc/self/fd");
  } catch {
    return [];
  }
  return names.map(Number).filter((number) => number >= FIRST && isHandedOn(number));
}

function isHandedOn(number: number): boolean {
  try {
    const [, flags] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "latin1")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_START) === 0;
  } catch {
    // It was that of the listing itself.
    return false;
  }
}
