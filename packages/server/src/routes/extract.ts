/** Parts of a thread by path, for listings that show more than ids: `values.messages[-1].content`. */
const MOST_STEPS = 32;

/** Null for what is not there. */
export function extracted(from: object, paths: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, at(from, stepsOf(path)) ?? null]),
  );
}

function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index] of path.matchAll(/([^.[\]]+)(?=[.[]|$)|\[(-?\d{1,9})\]/g))
    steps.push(name ?? Number(index));
  return steps.slice(0, MOST_STEPS);
}

function at(value: unknown, [step, ...rest]: readonly (string | number)[]): unknown {
  if (step === undefined) return value;
  if (typeof step === "number") return Array.isArray(value) ? at(value.at(step), rest) : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return at((value as Record<string, unknown>)[step], rest);
}
