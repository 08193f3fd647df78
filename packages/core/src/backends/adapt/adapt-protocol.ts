/** Backends of either protocol behind a wrapper that a caller may decorate without changing the backend. */

import type { BackendProtocol, SandboxBackendProtocol } from "../backend.ts";
import { type AnyBackendProtocol, type AnySandboxProtocol, currentProtocol } from "./adapt.ts";

/** Each call gives a new wrapper, never the object it was given. */
export function adaptBackendProtocol(backend: AnyBackendProtocol): BackendProtocol {
  return freshWrapper(currentProtocol(backend));
}

export function adaptSandboxProtocol(sandbox: AnySandboxProtocol): SandboxBackendProtocol {
  return adaptBackendProtocol(sandbox) as SandboxBackendProtocol;
}

/**
 * Every member of `inner` is an own member of the wrapper: methods call `inner`, properties are read from it. Members
 * that a caller adds or replaces stay on the wrapper; `inner` never calls them.
 */
function freshWrapper<Backend extends object>(inner: Backend): Backend {
  // Another constructor: the caller may replace methods, so promises of the class do not hold for the wrapper.
  const wrapper: Backend = Object.create(Object.getPrototypeOf(inner), { constructor: { value: Object } });
  for (const key of memberKeys(inner)) {
    const value: unknown = Reflect.get(inner, key);
    const descriptor =
      typeof value === "function"
        ? { value: (...args: unknown[]): unknown => Reflect.apply(value, inner, args), writable: true }
        : { get: (): unknown => Reflect.get(inner, key), set: replacing(wrapper, key) };
    Object.defineProperty(wrapper, key, { ...descriptor, enumerable: true, configurable: true });
  }
  return wrapper;
}

/** Names and symbols of the object and its classes. */
function memberKeys(inner: object): Set<string | symbol> {
  const keys = new Set<string | symbol>();
  for (let part = inner; part !== null && part !== Object.prototype; part = Object.getPrototypeOf(part))
    for (const key of Reflect.ownKeys(part)) keys.add(key);
  keys.delete("constructor");
  return keys;
}

function replacing(wrapper: object, key: string | symbol): (value: unknown) => void {
  return (value) => {
    Object.defineProperty(wrapper, key, { value, writable: true, enumerable: true, configurable: true });
  };
}
