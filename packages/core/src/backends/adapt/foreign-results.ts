/** Results of backends that others wrote, in the form our code relies on: `null` is absent, a failure has a code. */

import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import type { BackendProtocol } from "../backend.ts";
import { errorIn } from "./adapt-errors.ts";

type Method = (...given: unknown[]) => unknown;

const FILE_METHODS = new Set(["ls", "read", "readRaw", "write", "append", "edit", "delete", "grep", "glob"]);

const known = new WeakMap<object, BackendProtocol>();

/** The same backend with its results in our form; always the same object for one backend. */
export function withOurResults(backend: BackendProtocol): BackendProtocol {
  const made = (backend as { readonly constructor?: unknown }).constructor;
  if (typeof made === "function" && Object.hasOwn(made, GIVES_OUR_RESULTS)) return backend;
  const view = known.get(backend) ?? viewOf(backend);
  known.set(backend, view);
  known.set(view, view);
  return view;
}

/** The proxy target is an empty object, because a proxy cannot change answers of a frozen one. */
function viewOf(backend: BackendProtocol): BackendProtocol {
  return new Proxy({} as BackendProtocol, {
    get: (_view, name) => {
      const value: unknown = Reflect.get(backend, name, backend);
      if (typeof value !== "function" || name === "constructor") return value;
      const method = (value as Method).bind(backend);
      return FILE_METHODS.has(name as string) ? inOurForm(method) : method;
    },
    set: (_view, name, value) => Reflect.set(backend, name, value, backend),
    getPrototypeOf: () => Reflect.getPrototypeOf(backend),
    ownKeys: () => Reflect.ownKeys(backend),
    getOwnPropertyDescriptor: (_view, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(backend, name);
      return descriptor && { ...descriptor, configurable: true };
    },
    has: (_view, name) => Reflect.has(backend, name),
  });
}

function inOurForm(method: Method): Method {
  return (...given) => {
    const result = method(...given);
    return result instanceof Promise ? result.then(fileResult) : fileResult(result);
  };
}

function fileResult(result: unknown): unknown {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return result;
  const { error, code } = result as { readonly error?: unknown; readonly code?: unknown };
  if (error !== undefined && error !== null && typeof error !== "string") return result;
  const isWhole = error === undefined || (error && code);
  if (isWhole && !Object.values(result).includes(null)) return result;
  const present = Object.entries(result).filter(([name, value]) => value !== null && name !== "error");
  // The words stay as they are: the tool shows them to the model.
  return { ...Object.fromEntries(present), ...(error && { ...errorIn(result), error }) };
}
