/** The value of a record under a name that comes from outside: `constructor` and `__proto__` are names like any other. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
