/** Filters of a search: checked when asked, applied to decoded values, never part of a query. */
import { DeepwrightError } from "deepwright/errors";

export type Operator = "$eq" | "$ne" | "$gt" | "$gte" | "$lt" | "$lte" | "$in" | "$nin";

/** All conditions of a filter must hold. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  readonly operand: unknown;
}

/** Throws INVALID_FILTER for what is not a filter. Objects and lists in it are compared as JSON. */
export function parseFilter(filter: unknown): Condition[] {
  if (filter === undefined || filter === null) return [];
  if (!isPlain(filter)) throw invalid("A filter is an object of fields and what they must be");
  return Object.entries(filter).flatMap(([field, wanted]) => conditionsOf(field, wanted));
}

/** Fields are looked up as the value's own, so that `constructor` is as absent as it looks. */
export function matches(value: unknown, conditions: readonly Condition[]): boolean {
  return conditions.every(({ field, operator, operand }) => {
    const found = Object.hasOwn(Object(value), field) ? (value as Record<string, unknown>)[field] : undefined;
    return TESTS[operator](found, operand);
  });
}

const TESTS: Readonly<Record<Operator, (found: unknown, operand: unknown) => boolean>> = {
  $eq: sameJson,
  $ne: (found, operand) => !sameJson(found, operand),
  $gt: (found, operand) => Number(found) > Number(operand),
  $gte: (found, operand) => Number(found) >= Number(operand),
  $lt: (found, operand) => Number(found) < Number(operand),
  $lte: (found, operand) => Number(found) <= Number(operand),
  $in: (found, operand) => (operand as unknown[]).some((one) => sameJson(found, one)),
  $nin: (found, operand) => !(operand as unknown[]).some((one) => sameJson(found, one)),
};

function conditionsOf(field: string, wanted: unknown): Condition[] {
  const operators = isPlain(wanted) ? Object.keys(wanted) : [];
  if (!isPlain(wanted) || (operators.length > 0 && !operators.some((name) => name.startsWith("$")))) {
    return [{ field, operator: "$eq", operand: comparable(field, wanted) }];
  }
  return operators.map((operator) => {
    if (!isOperator(operator)) {
      const known = Object.keys(TESTS).join(", ");
      throw invalid(`"${operator}" on field "${field}" is not an operator; those are ${known}`);
    }
    return { field, operator, operand: operandOf(field, operator, wanted[operator]) };
  });
}

function operandOf(field: string, operator: Operator, operand: unknown): unknown {
  if (operator === "$eq" || operator === "$ne") return comparable(field, operand);
  if (operator === "$in" || operator === "$nin") {
    if (!Array.isArray(operand)) throw invalid(`${operator} on field "${field}" takes a list`);
    return operand.map((one) => comparable(field, one));
  }
  const number = typeof operand === "symbol" ? Number.NaN : Number(operand);
  if (Number.isNaN(number)) throw invalid(`${operator} on field "${field}" takes a number`);
  return number;
}

/** A value as filters compare it: `undefined` is a missing field, objects are as JSON keeps them. */
function comparable(field: string, operand: unknown): unknown {
  if (["function", "symbol", "bigint"].includes(typeof operand)) {
    throw invalid(`Field "${field}" cannot be compared to a ${typeof operand}`);
  }
  if (typeof operand !== "object" || operand === null) return operand;
  try {
    return JSON.parse(JSON.stringify(operand));
  } catch {
    throw invalid(`What field "${field}" is compared to cannot be written as JSON`);
  }
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) => Object.hasOwn(b, name) && sameJson(a[name as keyof typeof a], b[name as keyof typeof b]),
  );
}

function isOperator(name: string): name is Operator {
  return Object.hasOwn(TESTS, name);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function invalid(problem: string): DeepwrightError {
  return new DeepwrightError("INVALID_FILTER", `${problem}.`);
}
