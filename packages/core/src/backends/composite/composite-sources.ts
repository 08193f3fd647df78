/** The backends of a composite, made and put in their places. */
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import type { BackendProtocol, BackendRuntime } from "../backend.ts";
import { checkBackend } from "../check-backend.ts";
import { type BackendSource, bindBackend, makeBackend, mayUseState } from "../resolve.ts";
import { StateBackend } from "../state/state.ts";
import type { Mount } from "./composite-routes.ts";

type Routes = readonly (readonly [prefix: string, source: BackendSource])[];
type Awaitable<T> = T | Promise<T>;

/** The parts of a composite, as one object. */
export interface CompositeParts {
  readonly default: BackendSource;
  readonly routes?: Readonly<Record<string, BackendSource>> | null;
}

/** Throws a ConfigurationError for a value that is not a backend. */
export function compositeParts(
  first: BackendSource | CompositeParts,
  second: CompositeParts["routes"],
): Required<CompositeParts> & { readonly routes: Readonly<Record<string, BackendSource>> } {
  const isParts = typeof first === "object" && first !== null && "default" in first && !("read" in first);
  const given = isParts ? (first as CompositeParts) : { default: first as BackendSource, routes: second };
  const routes = given.routes ?? {};
  for (const source of [given.default, ...Object.values(routes)]) {
    checkBackend(source);
    if (source == null)
      throw new ConfigurationError(
        "INVALID_OPTION",
        "A CompositeBackend needs a backend for each of its places.",
        {
          hint: "For example new CompositeBackend(new StateBackend(), { '/memories/': new StoreBackend() }).",
        },
      );
  }
  return { default: given.default, routes };
}

/** A backend with the instance it was bound from, which shows its abilities. */
interface Made {
  readonly instance?: BackendProtocol;
  readonly bound: BackendProtocol;
}

/** Undefined when one of them has to be made first. */
export function instanceMounts(defaultBackend: BackendSource, routes: Routes): Mount[] | undefined {
  const sources = [...routes.map(([, source]) => source), defaultBackend];
  if (sources.some((source) => typeof source === "function")) return undefined;
  const made = sources.map((source) => {
    const instance = makeBackend(source, { state: {} }) as BackendProtocol;
    return { instance, bound: instance };
  });
  return placed(routes, made);
}

export function resolveMounts(
  defaultBackend: BackendSource,
  routes: Routes,
  runtime: BackendRuntime,
): Awaitable<Mount[]> {
  const made = routes.map(([, source]) => mountOrFailure(source, runtime));
  const ofDefault = attempt(defaultBackend, runtime);
  const all = [...made, ofDefault];
  return all.some((one) => one instanceof Promise)
    ? Promise.all(all).then((resolved) => placed(routes, resolved))
    : placed(routes, all as Made[]);
}

/** A failure of one mount concerns only calls that use it. */
function mountOrFailure(source: BackendSource, runtime: BackendRuntime): Awaitable<Made> {
  try {
    const made = attempt(source, runtime);
    return made instanceof Promise ? made.catch((error: unknown) => ({ bound: failing(error) })) : made;
  } catch (error) {
    return { bound: failing(error) };
  }
}

function attempt(source: BackendSource, runtime: BackendRuntime): Awaitable<Made> {
  const instance = makeBackend(source, runtime);
  return instance instanceof Promise ? instance.then((one) => bind(one, runtime)) : bind(instance, runtime);
}

function bind(instance: BackendProtocol, runtime: BackendRuntime): Awaitable<Made> {
  const bound = bindBackend(instance, runtime);
  return bound instanceof Promise ? bound.then((one) => ({ instance, bound: one })) : { instance, bound };
}

/** `made` has the backend of each route, then the default. */
function placed(routes: Routes, made: readonly Made[]): Mount[] {
  const inState = made.filter(({ instance }) => instance !== undefined && mayUseState(instance));
  const shared = inState.length > 1;
  return made.map(({ instance, bound }, index) => {
    const prefix = routes[index]?.[0] ?? "/";
    const keepsPrefix = shared && inState.some((one) => one.instance === instance);
    if (keepsPrefix && prefix !== "/" && !(instance instanceof StateBackend)) throw collides(prefix);
    return { prefix, root: keepsPrefix ? prefix : "/", backend: bound };
  });
}

/** Throws the reason from every method. */
function failing(reason: unknown): BackendProtocol {
  const fail = async (): Promise<never> => {
    throw reason;
  };
  return {
    ls: fail,
    read: fail,
    readRaw: fail,
    write: fail,
    append: fail,
    edit: fail,
    delete: fail,
    grep: fail,
    glob: fail,
    uploadFiles: fail,
    downloadFiles: fail,
  };
}

function collides(prefix: string): DeepwrightError {
  return new DeepwrightError(
    "INVALID_OPTION",
    `The backend at '${prefix}' and another of this composite keep their files in the same state.`,
    { hint: "Mount a StateBackend itself there, and wrap the composite instead." },
  );
}
