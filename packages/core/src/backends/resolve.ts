import type { BackendFactory, BackendProtocol, BackendRuntime } from "./backend.ts";
import { StateBackend } from "./state.ts";

/** A backend that has a form for one task; `resolveBackend` asks for it. */
export interface RuntimeBackend extends BackendProtocol {
  withRuntime(runtime: BackendRuntime): BackendProtocol;
}

export type BackendClass = new (runtime: BackendRuntime) => BackendProtocol;
export type BackendSource = BackendProtocol | BackendFactory | BackendClass;

const thread = new StateBackend();

/**
 * The backend to use in one task: an instance, what a factory makes for it, or an instance of a class.
 * Absent means the state of the thread.
 */
export function resolveBackend(
  backend: BackendSource | null | undefined,
  runtime: BackendRuntime,
): BackendProtocol | Promise<BackendProtocol> {
  const source = backend ?? thread;
  if (typeof source !== "function") return bound(source, runtime);
  if (isBackendClass(source)) return bound(new source(runtime), runtime);
  const made = source(runtime);
  return made instanceof Promise ? made.then((one) => bound(one, runtime)) : bound(made, runtime);
}

function bound(backend: BackendProtocol, runtime: BackendRuntime): BackendProtocol {
  const bind = (backend as Partial<RuntimeBackend>).withRuntime;
  return typeof bind === "function" ? bind.call(backend, runtime) : backend;
}

function isBackendClass(source: BackendFactory | BackendClass): source is BackendClass {
  const prototype = source.prototype as Partial<BackendProtocol> | undefined;
  return typeof prototype?.ls === "function" && typeof prototype.read === "function";
}
