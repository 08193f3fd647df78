/** Equal parts of a new value are the old objects. */

/** `next`, with every part of it that equals the same part of `before` being that very part. JSON values only. */
export function share<Value>(before: unknown, next: Value): Value {
  if (Object.is(before, next)) return next;
  if (Array.isArray(before) && Array.isArray(next)) return shareArrays(before, next) as Value;
  if (isRecord(before) && isRecord(next)) return shareRecords(before, next) as Value;
  return next;
}

function shareArrays(before: readonly unknown[], next: readonly unknown[]): readonly unknown[] {
  let same = before.length === next.length;
  const shared = next.map((value, index) => {
    const kept = share(before[index], value);
    if (!Object.is(kept, before[index])) same = false;
    return kept;
  });
  return same ? before : shared;
}

function shareRecords(before: Record<string, unknown>, next: Record<string, unknown>): object {
  const names = Object.keys(next);
  let same = names.length === Object.keys(before).length;
  const shared: Record<string, unknown> = {};
  for (const name of names) {
    const kept = share(Object.hasOwn(before, name) ? before[name] : undefined, next[name]);
    if (!Object.hasOwn(before, name) || !Object.is(kept, before[name])) same = false;
    put(shared, name, kept);
  }
  return same ? before : shared;
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

/** What stands under the name, if it is the record's own. */
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
