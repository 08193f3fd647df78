/** A backend made of others: a default, and directories that are mounted from elsewhere. */

import { DeepwrightError } from "../../errors.ts";
import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import { currentProtocol } from "../adapt/adapt.ts";
import { ambientRuntime } from "../ambient-runtime.ts";
import { sameDemand } from "../approval-demand.ts";
import type { BackendProtocol, BackendRuntime, FileError, OperationOptions } from "../backend.ts";
import { reachOfMounts, withCommandReach } from "../command-reach.ts";
import { type Forwarded, type ForwardedOperation, ForwardingBackend } from "../forwarding-backend.ts";
import { isSandboxProtocol } from "../is-sandbox.ts";
import { type BackendSource, mayExecute, mayUseState } from "../resolve.ts";
import { MountedBackends } from "./composite-mounted.ts";
import { orderedRoutes } from "./composite-routes.ts";
import { type CompositeParts, compositeParts, instanceMounts, resolveMounts } from "./composite-sources.ts";

const OPTIONAL = ["append", "delete", "uploadFiles", "downloadFiles", "realPath"] as const;

/**
 * Routes are directories, with or without a slash at the end, matched by whole segments; the longest wins. The mounted
 * backend sees paths without the route; all other code sees whole paths. Each backend is an instance, a factory or a
 * class; factories are called once for each task.
 *
 * A mounted `StateBackend` keeps its files in the state without the route. If the same composite has another
 * `StateBackend`, it keeps them with the route, so that the two do not mix.
 */
export class CompositeBackend extends ForwardingBackend {
  static readonly [GIVES_OUR_RESULTS] = true;
  /** Id of the default backend if it can run commands, else `""`. */
  readonly id: string = "";
  /** Present if the default is known to run commands. A factory's backend is known only in a task. */
  readonly execute?: MountedBackends["execute"];
  /** Working directory of the default backend, if known. */
  readonly workingDirectory?: string;
  /** Command note of the default backend, if known: commands see its files alone. */
  readonly commandNote?: string;
  /** Whether the default holds its commands to the permissions of the agent. */
  readonly enforcesPermissions?: true;
  readonly closesPaths?: true;
  /** As they were given. */
  readonly routePrefixes: readonly string[];
  /** Whether the default can run commands, or might. */
  readonly mayExecute: boolean;
  readonly usesState: boolean;
  readonly #default: BackendSource;
  readonly #routes: readonly (readonly [prefix: string, source: BackendSource])[];
  /** Absent with factories, because those need a run. */
  readonly #instances: MountedBackends | undefined;

  constructor(parts: CompositeParts);
  constructor(defaultBackend: BackendSource, routes?: Readonly<Record<string, BackendSource>> | null);
  constructor(first: BackendSource | CompositeParts, second?: CompositeParts["routes"]) {
    super();
    const { default: defaultBackend, routes } = compositeParts(first, second);
    this.#default = defaultBackend;
    this.#routes = orderedRoutes(routes);
    this.routePrefixes = Object.keys(routes);
    this.mayExecute = mayExecute(defaultBackend);
    const sources = [defaultBackend, ...this.#routes.map(([, source]) => source)];
    this.usesState = sources.some(mayUseState);
    Object.assign(this, sameDemand(...sources));
    const mounts = instanceMounts(defaultBackend, this.#routes);
    this.#instances = mounts === undefined ? undefined : new MountedBackends(mounts);
    for (const method of OPTIONAL)
      if (this.#instances === undefined || this.#instances[method])
        Object.assign(this, { [method]: this.#lazily(method) });
    withCommandReach(this, reachOfMounts(this.#routes.map(([prefix, source]) => ({ prefix, source }))));
    if (typeof defaultBackend === "function") return;
    const known = currentProtocol(defaultBackend);
    this.workingDirectory = known.workingDirectory;
    if (!isSandboxProtocol(known)) return;
    this.id = known.id;
    this.commandNote = known.commandNote;
    if (known.enforcesPermissions) this.enforcesPermissions = true;
    if (known.closesPaths) this.closesPaths = true;
    this.execute = async (command, options) => known.execute(command, options);
  }

  /** Checks the methods, so that a copy of this class from another module counts too. */
  static isInstance(backend: unknown): backend is CompositeBackend {
    return Array.isArray((backend as { routePrefixes?: unknown } | null | undefined)?.routePrefixes);
  }

  get ignoresCase(): boolean | undefined {
    return this.#instances?.ignoresCase;
  }

  /** All backends in their form for one task. A mount that cannot be made fails when it is used. */
  withRuntime(runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol> {
    return this.#mounted(runtime);
  }

  protected override get startDirectory(): string {
    return "/";
  }

  protected override async forward<
    Result extends { readonly error?: string },
    Options extends OperationOptions,
  >(
    _operation: ForwardedOperation,
    path: string,
    options: Options | undefined,
    act: Forwarded<Result, Options>,
  ): Promise<Result | FileError> {
    return act(await this.#now(), path, options);
  }

  #lazily(method: (typeof OPTIONAL)[number]): (...given: unknown[]) => Promise<unknown> {
    return async (...given) => {
      const mounted = await this.#now();
      const act = mounted[method] as ((...given: unknown[]) => unknown) | undefined;
      if (act === undefined)
        throw new DeepwrightError("NOT_SUPPORTED", `No backend of this composite has '${method}'.`);
      return act(...given);
    };
  }

  #now(): MountedBackends | Promise<MountedBackends> {
    if (this.#instances) return this.#instances;
    const runtime = ambientRuntime();
    if (runtime) return this.#mounted(runtime);
    throw new DeepwrightError(
      "INVALID_INPUT",
      "CompositeBackend was used outside a run, but some of its backends are made for each run.",
      { hint: "Use it in a tool or node, or pass instances." },
    );
  }

  #mounted(runtime: BackendRuntime): MountedBackends | Promise<MountedBackends> {
    const mounts = resolveMounts(this.#default, this.#routes, runtime);
    return mounts instanceof Promise
      ? mounts.then((resolved) => new MountedBackends(resolved))
      : new MountedBackends(mounts);
  }
}
