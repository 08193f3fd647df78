/** Turns the backend option of a user into the backend of a task. */
import { type AnyBackendProtocol, type BackendProtocolV1, currentProtocol } from "./adapt/adapt.ts";
import { withOurResults } from "./adapt/foreign-results.ts";
import { approvalDemandOf, sameDemand } from "./approval-demand.ts";
import type { BackendProtocol, BackendRuntime } from "./backend.ts";
import { treeOf } from "./run-tree.ts";
import { StateBackend } from "./state/state.ts";

type Awaitable<T> = T | Promise<T>;

/** A backend that has a form for one task; `resolveBackend` asks for it. */
export interface RuntimeBackend extends BackendProtocol {
  withRuntime(runtime: BackendRuntime): Awaitable<BackendProtocol>;
}

export type BackendClass = new (runtime: BackendRuntime) => AnyBackendProtocol;
export type AnyBackendFactory = (runtime: BackendRuntime) => Awaitable<AnyBackendProtocol>;
/** Backends of the older protocol are taken as well. */
export type BackendSource = AnyBackendProtocol | AnyBackendFactory | BackendClass;

/** Facts that a factory around another source knows about its future backend. */
export interface KnownFactory {
  readonly usesState?: boolean;
  readonly mayExecute?: boolean;
}

const thread = new StateBackend();

/**
 * The backend of one task: an instance, the result of a factory, or an instance of a class. Absent means the state of
 * the thread.
 */
export function resolveBackend(
  backend: BackendSource | null | undefined,
  runtime: BackendRuntime,
): Awaitable<BackendProtocol> {
  const { ceiling } = treeOf(runtime.config);
  const bound = then(makeBackend(backend ?? thread, runtime), (made) => bindBackend(made, runtime));
  return ceiling === undefined ? bound : then(bound, (one) => ceiling(one, runtime));
}

/** The instance itself, in today's protocol, before it knows the task. */
export function makeBackend(source: BackendSource, runtime: BackendRuntime): Awaitable<BackendProtocol> {
  if (typeof source !== "function") return adapted(source);
  if (isBackendClass(source)) return adapted(new source(runtime));
  const given = approvalDemandOf(source) === undefined ? runtime : { ...runtime, ...sameDemand(source) };
  return then(source(given), adapted);
}

function adapted(backend: AnyBackendProtocol): BackendProtocol {
  return withOurResults(currentProtocol(backend));
}

/** Its form for one task, where it has one. */
export function bindBackend(backend: BackendProtocol, runtime: BackendRuntime): Awaitable<BackendProtocol> {
  const bind = (backend as Partial<RuntimeBackend>).withRuntime;
  return typeof bind === "function" ? then(bind.call(backend, runtime), withOurResults) : backend;
}

/** Whether it keeps files in the state of the thread, or might: the result of a factory is not known. */
export function mayUseState(source: BackendSource): boolean {
  if (typeof source === "function")
    return (
      (source as KnownFactory).usesState ??
      (!isBackendClass(source) || source === StateBackend || source.prototype instanceof StateBackend)
    );
  return source instanceof StateBackend || (source as { usesState?: boolean }).usesState === true;
}

/** Whether it can run commands, or might. */
export function mayExecute(source: BackendSource): boolean {
  if (typeof source === "function")
    return (
      (source as KnownFactory).mayExecute ??
      (!isBackendClass(source) || typeof source.prototype.execute === "function")
    );
  const { execute, mayExecute: might } = source as { execute?: unknown; mayExecute?: boolean };
  return might ?? typeof execute === "function";
}

/** Whether its abilities are known only in a run, because it or a part of it is made there. */
export function isMadeForRun(source: BackendSource): boolean {
  if (typeof source === "function") return true;
  return mayExecute(source) && typeof (source as { execute?: unknown }).execute !== "function";
}

export function isBackendClass(source: AnyBackendFactory | BackendClass): source is BackendClass {
  const prototype = source.prototype as Partial<BackendProtocol & BackendProtocolV1> | undefined;
  return typeof (prototype?.ls ?? prototype?.lsInfo) === "function" && typeof prototype?.read === "function";
}

/** Does not wait for a value that is there already. */
function then<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
