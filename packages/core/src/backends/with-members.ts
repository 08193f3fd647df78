/** A backend with some members replaced; the backend itself does not change. */

type Method = (...given: unknown[]) => unknown;

/**
 * `own` members come first, all others from the backend, whose methods keep it as `this`. `wrap` makes the replacement
 * for a method of the backend.
 */
export function withMembers<Backend extends object, Own extends object>(
  backend: Backend,
  own: Own,
  wrap?: (key: PropertyKey, method: Method) => Method,
): Backend & Own {
  return new Proxy(backend, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || key === "constructor") return value;
      const method = (value as Method).bind(target);
      return wrap ? wrap(key, method) : method;
    },
    has: (target, key) => Object.hasOwn(own, key) || Reflect.has(target, key),
  }) as Backend & Own;
}
