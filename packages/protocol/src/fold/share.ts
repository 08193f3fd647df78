/** Equal parts of a new value are the old objects. */

/** Deeper values are not compared: they may be nested deeper than a program can count. */
const MOST_DEPTH = 100;

/** `next`, with every part of it that equals the same part of `before` being that very part. JSON values only. */
export function share<Value>(before: unknown, next: Value, depth = MOST_DEPTH): Value {
  if (same(before, next, depth)) return before as Value;
  if (depth === 0) return next;
  if (Array.isArray(before) && Array.isArray(next)) return shareArrays(before, next, depth - 1) as Value;
  if (isRecord(before) && isRecord(next)) return shareRecords(before, next, depth - 1) as Value;
  return next;
}

/** Whether two JSON values say the same, as far as it is looked at. */
function same(one: unknown, other: unknown, depth: number): boolean {
  if (Object.is(one, other)) return true;
  if (depth === 0) return false;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => same(item, other[index], depth - 1))
    );
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name], depth - 1))
  );
}

function shareArrays(
  before: readonly unknown[],
  next: readonly unknown[],
  depth: number,
): readonly unknown[] {
  return next.map((value, index) => share(before[index], value, depth));
}

function shareRecords(before: Record<string, unknown>, next: Record<string, unknown>, depth: number): object {
  const shared: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(next)) put(shared, name, share(own(before, name), value, depth));
  return shared;
}

/** A field like any other, also when it is called `__proto__`. */
function put(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true });
  else record[name] = value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value under the name, if it is the record's own. */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A copy with one field set; the record itself when it is set already. */
export function withField<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
  value: Value,
): Readonly<Record<string, Value>> {
  if (Object.hasOwn(record, name) && Object.is(record[name], value)) return record;
  const copy: Record<string, Value> = { ...record };
  put(copy, name, value);
  return copy;
}
