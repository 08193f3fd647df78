/** `__proto__` is a key like any other. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else (target as Record<string, unknown>)[key] = value;
}
