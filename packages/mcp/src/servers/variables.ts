/** `${NAME}` and `${NAME:-default}` in definitions: filled from the environment of this process, once the program may run. */
import { ConfigurationError } from "deepwright/errors";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** The names of all variables it would read, sorted. */
export function variablesIn(value: unknown): readonly string[] {
  const found = new Set<string>();
  const look = (one: unknown): void => {
    if (typeof one === "string") for (const [, name] of one.matchAll(VARIABLE)) found.add(name as string);
    else if (typeof one === "object" && one !== null) Object.values(one).forEach(look);
  };
  look(value);
  return [...found].sort();
}

/** The same value with all variables filled in; throws for unset variables without a default. */
export function filled<Value>(
  value: Value,
  environment: Readonly<Record<string, string | undefined>>,
): Value {
  const missing = new Set<string>();
  const fill = (one: unknown): unknown => {
    if (typeof one === "string")
      return one.replace(VARIABLE, (_, name: string, otherwise?: string) => {
        // As in a shell, an empty variable with a default counts as unset.
        const set = Object.hasOwn(environment, name) ? environment[name] : undefined;
        if (set !== undefined && !(set === "" && otherwise !== undefined)) return set;
        if (otherwise === undefined) missing.add(name);
        return otherwise ?? "";
      });
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, fill(inner)]));
  };
  const result = fill(value) as Value;
  if (missing.size > 0)
    throw new ConfigurationError(
      "INVALID_OPTION",
      `The definition names ${[...missing].sort().join(", ")}, which ${missing.size > 1 ? "are" : "is"} not set.`,
      { hint: `Set it in the environment, or write a default: ${"$"}{NAME:-default}.` },
    );
  return result;
}
