/**
 * Object schemas for tool arguments that accept common mistakes of models.
 *
 * The repair is a step before a plain object schema. A provider sees only the object; parsing with the schema includes
 * the repair.
 */

import { z } from "zod";
import { isRecord } from "../check-options.ts";
import { withArgumentNames } from "../loop/failures/argument-words.ts";

export interface Repairs {
  /** Other names a model may use for an argument. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Arguments that may come as text: `"10"`, `"true"`, a list written as JSON. */
  readonly numbers?: readonly string[];
  readonly booleans?: readonly string[];
  readonly json?: readonly string[];
}

/** Besides the repairs, null and `""` mean absent for every optional argument. */
export function lenientObject<Shape extends z.core.$ZodShape>(shape: Shape, repairs: Repairs = {}) {
  const optional = Object.keys(shape).filter((key) => (shape[key] as z.ZodType).safeParse(undefined).success);
  const schema = z.preprocess(
    (given) => (isRecord(given) ? repaired(given, optional, repairs) : given),
    z.object(shape),
  );
  return withArgumentNames(schema, Object.keys(shape), Object.keys(repairs.aliases ?? {}));
}

function repaired(
  given: Record<string, unknown>,
  optional: readonly string[],
  repairs: Repairs,
): Record<string, unknown> {
  const args = { ...given };
  for (const [alias, name] of Object.entries(repairs.aliases ?? {}))
    if (Object.hasOwn(args, alias) && isAbsent(args[name])) args[name] = args[alias];
  for (const key of optional) if (isAbsent(args[key])) delete args[key];
  for (const key of repairs.numbers ?? []) args[key] = numberIn(args[key]);
  for (const key of repairs.booleans ?? []) args[key] = booleanIn(args[key]);
  for (const key of repairs.json ?? []) args[key] = jsonIn(args[key]);
  return args;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** Text that is not a number stays as it is, for the schema to reject. */
function numberIn(value: unknown): unknown {
  if (typeof value !== "string" || value.trim() === "") return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

function booleanIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const word = value.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : value;
}

function jsonIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
}
