/** Parts of a thread by path, for listings that show more than ids: `values.messages[-1].content`. */
const MOST_STEPS = 32;

/** Reads the paths once, for any number of threads. Null for what is not there. */
export function extractor(
  paths: Readonly<Record<string, string>>,
): (from: object) => Record<string, unknown> {
  const wanted = Object.entries(paths).map(([name, path]) => [name, stepsOf(path)] as const);
  return (from) => Object.fromEntries(wanted.map(([name, steps]) => [name, at(from, steps) ?? null]));
}

function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index] of path.matchAll(/([^.[\]]+)(?=[.[]|$)|\[(-?\d{1,9})\]/g))
    steps.push(name ?? Number(index));
  return steps.slice(0, MOST_STEPS);
}

function at(value: unknown, steps: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of steps) {
    if (typeof step === "number") found = Array.isArray(found) ? found.at(step) : undefined;
    else if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    else found = (found as Record<string, unknown>)[step];
  }
  return found;
}
