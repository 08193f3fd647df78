/** A backend with permissions in front of it: the one place where rules are enforced, below every tool. */

import { type Admitted, downloadAdmitted, uploadAdmitted } from "../backends/admitted-transfers.ts";
import { sameDemand } from "../backends/approval-demand.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  ClosedPaths,
  ExecuteOptions,
  FileError,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
  SandboxBackendProtocol,
} from "../backends/backend.ts";
import type { ChildFilesRequest, WithChildFiles } from "../backends/child-files.ts";
import { commandReachOf, withCommandReach } from "../backends/command-reach.ts";
import {
  type Forwarded,
  type ForwardedOperation,
  ForwardingBackend,
} from "../backends/forwarding-backend.ts";
import type { OfThread } from "../backends/harness-areas.ts";
import { isHarnessCall } from "../backends/harness-call.ts";
import { commandNoteOf, isSandboxProtocol } from "../backends/is-sandbox.ts";
import { openCheckOf } from "../backends/open-check.ts";
import {
  type BackendSource,
  bindBackend,
  type KnownFactory,
  makeBackend,
  mayExecute,
  mayUseState,
} from "../backends/resolve.ts";
import { ConfigurationError, DeepwrightError } from "../errors.ts";
import { CHILD_FILES, GIVES_OUR_RESULTS } from "../internal-symbols.ts";
import { type CanonicalPath, canonicalPath } from "../paths.ts";
import { closedPaths, type UnkeptRule } from "./closed-paths.ts";
import { deletionMode } from "./guard-delete.ts";
import { globAllowed, grepAllowed, lsAllowed, type SearchTarget } from "./guard-search.ts";
import { Judge, refusalOf } from "./judge.ts";
import { checkPermissions, type FilesystemOperation, type PermissionList, type Rules } from "./rules.ts";

/**
 * The same source under rules: an instance, or the result of a factory or class. Without rules the source itself.
 * Throws PERMISSIONS_WITH_EXECUTE for a backend whose commands would go around the rules.
 */
export function guardBackend(
  source: BackendSource,
  permissions: PermissionList | Rules | null | undefined,
): BackendSource {
  const rules = checkPermissions(permissions);
  if (rules.length === 0) return source;
  if (typeof source !== "function") {
    const instance = makeBackend(source, { state: {} }) as BackendProtocol;
    const held = holdCommands(instance, rules);
    if (held !== undefined && "problem" in held) throw new ConfigurationError(...withExecute(held));
    return Object.assign(new GuardedBackend(instance, rules), sameDemand(source));
  }
  const guard = (made: BackendProtocol): BackendProtocol => new GuardedBackend(made, rules);
  const factory = (runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol> => {
    const made = makeBackend(source, runtime);
    return made instanceof Promise ? made.then(guard) : guard(made);
  };
  const known: KnownFactory = { usesState: mayUseState(source), mayExecute: mayExecute(source) };
  return Object.assign(factory, known, sameDemand(source));
}

const COMMANDS: UnkeptRule = {
  problem: "Permissions do not hold for commands, and this backend can run them.",
};

function withExecute({ problem }: UnkeptRule) {
  const hint =
    "Use a backend without execute (FilesystemBackend), the os sandbox with rules that deny a path or a directory in " +
    "its workspace, a sandbox that says enforcesPermissions: true, or rules for routes of a CompositeBackend alone " +
    "whose files lie in a state or store.";
  return ["PERMISSIONS_WITH_EXECUTE", problem, { hint }] as const;
}

/** Paths closed for each command so that none goes around the rules, or why one would; undefined: known in a run. */
function holdCommands(backend: BackendProtocol, rules: Rules): ClosedPaths | UnkeptRule | undefined {
  if (!isSandboxProtocol(backend) || backend.enforcesPermissions === true) return NOTHING;
  const reach = commandReachOf(backend);
  const found = new Map(rules.flatMap(({ patterns }) => patterns.map((one) => [one, reach(one.literal)])));
  const reached = [...found.values()];
  if (backend.closesPaths && !reached.includes(undefined))
    return closedPaths(rules, backend.workingDirectory ?? "/", (pattern) => found.get(pattern) === true);
  if (reached.includes(true) && !backend.closesPaths) return COMMANDS;
  return reached.includes(undefined) ? undefined : NOTHING;
}

const NOTHING: ClosedPaths = { hidden: [], readOnly: [] };

function withClosed(options: ExecuteOptions | undefined, more: ClosedPaths): ExecuteOptions | undefined {
  if (more.hidden.length + more.readOnly.length === 0) return options;
  const { hidden, readOnly } = options?.closed ?? NOTHING;
  const closed = { hidden: [...hidden, ...more.hidden], readOnly: [...readOnly, ...more.readOnly] };
  return { ...options, closed };
}

/** The optional methods are there when the inner backend has them; `execute`, where it cannot go around the rules. */
export class GuardedBackend extends ForwardingBackend implements OfThread, WithChildFiles {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly id: string = "";
  readonly enforcesPermissions?: true;
  readonly closesPaths?: true;
  readonly execute?: SandboxBackendProtocol["execute"];
  readonly [CHILD_FILES]?: NonNullable<WithChildFiles[typeof CHILD_FILES]>;
  readonly #inner: BackendProtocol;
  readonly #rules: Rules;
  readonly #judge: Judge;

  /** With a runtime, `inner` is bound to it. */
  constructor(inner: BackendProtocol, rules: Rules, runtime?: BackendRuntime) {
    super();
    this.#inner = inner;
    this.#rules = rules;
    this.#judge = new Judge(inner, rules, runtime);
    this.offer([inner], {
      uploadFiles: async (files, options) => {
        const paths = files.map(([path]) => path);
        return uploadAdmitted(files, await this.#admit("write", paths, options));
      },
      downloadFiles: async (paths, options) =>
        downloadAdmitted(paths, await this.#admit("read", paths, options)),
      realPath: (...given) => this.#realPath(...given),
    });
    if ((inner as WithChildFiles)[CHILD_FILES])
      this[CHILD_FILES] = (path, request) => this.#childFiles(path, request);
    withCommandReach(this, commandReachOf(inner));
    const held = holdCommands(inner, rules);
    if (!isSandboxProtocol(inner) || held === undefined || "problem" in held) return;
    this.id = inner.id;
    if (inner.enforcesPermissions) this.enforcesPermissions = true;
    if (inner.closesPaths) this.closesPaths = true;
    this.execute = (command, options) => inner.execute(command, withClosed(options, held));
  }

  get workingDirectory(): string | undefined {
    return this.#inner.workingDirectory;
  }

  get ignoresCase(): boolean | undefined {
    return this.#inner.ignoresCase;
  }

  get commandNote(): string {
    return commandNoteOf(this.#inner);
  }

  get usesState(): boolean {
    return mayUseState(this.#inner);
  }

  get mayExecute(): boolean {
    return mayExecute(this.#inner);
  }

  get isOfThread(): boolean {
    return (this.#inner as OfThread).isOfThread === true;
  }

  /** The backend of a factory is known only now. */
  withRuntime(runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol> {
    const wrap = (inner: BackendProtocol): BackendProtocol => {
      const held = holdCommands(inner, this.#rules) ?? COMMANDS;
      if ("problem" in held) throw new DeepwrightError(...withExecute(held));
      return new GuardedBackend(inner, this.#rules, runtime);
    };
    const bound = bindBackend(this.#inner, runtime);
    return bound instanceof Promise ? bound.then(wrap) : wrap(bound);
  }

  override async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    if (isHarnessCall(options)) return this.#inner.ls(path, options);
    return this.#search(path, options, lsAllowed);
  }

  override async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    if (isHarnessCall(options)) return this.#inner.glob(pattern, path, options);
    return this.#search(path, options, (target) => globAllowed(pattern, target));
  }

  override async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    if (isHarnessCall(options)) return this.#inner.grep(pattern, path, glob, maxCount, options);
    return this.#search(path, options, (target) => grepAllowed({ pattern, glob, maxCount }, target));
  }

  async #admit(
    operation: FilesystemOperation,
    paths: readonly string[],
    options?: OperationOptions,
  ): Promise<Admitted> {
    const inner = this.#inner;
    if (isHarnessCall(options)) return { inner, targets: paths, options };
    const targets = await Promise.all(
      paths.map(async (path) => {
        const canonical = this.#canonical(path);
        if (canonical.error !== undefined) return canonical;
        return (await this.#judge.refusal(operation, canonical.path, options)) ?? canonical.path;
      }),
    );
    return { inner, targets, options: await this.#judge.whenOpened(operation, options) };
  }

  /** Only a readable path shows where its link leads. */
  async #realPath(path: string, options?: OperationOptions): Promise<string | FileError> {
    const inner = this.#inner;
    const act = (target: string) => inner.realPath?.(target, options) ?? target;
    if (isHarnessCall(options)) return act(path);
    const canonical = this.#canonical(path);
    if (canonical.error !== undefined) return canonical;
    const refusal = await this.#judge.refusal("read", canonical.path, options);
    if (refusal !== undefined) return refusal;
    const real = await act(canonical.path);
    if (typeof real !== "string" || real === canonical.path) return real;
    const check = openCheckOf(await this.#judge.whenOpened("read", options));
    return (await check?.at(real, canonical.path)) ?? real;
  }

  /** Called by the loader of skills, as the harness; other callers use the methods of the protocol. */
  async #childFiles(path: string, request: ChildFilesRequest) {
    const quick = (this.#inner as WithChildFiles)[CHILD_FILES];
    if (quick === undefined) return unavailable(path);
    if (isHarnessCall(request)) return quick.call(this.#inner, path, request);
    const given = (await this.#judge.whenOpened("read", request)) ?? request;
    const refusal = await this.#judge.refusal("read", path, request);
    const found = refusal ?? (await quick.call(this.#inner, path, given));
    if ("error" in found) return found;
    const view = await this.#judge.below("read", path, request);
    const isAllowed = (one: string): boolean => view.modeOf(one) === "allow";
    return {
      ...(found.own && isAllowed(found.own.path) && { own: found.own }),
      files: found.files.filter((file) => isAllowed(file.path)),
      others: found.others.filter(isAllowed),
    };
  }

  protected override async forward<
    Result extends { readonly error?: string },
    Options extends OperationOptions,
  >(
    operation: ForwardedOperation,
    path: string,
    options: Options | undefined,
    act: Forwarded<Result, Options>,
  ): Promise<Result | FileError> {
    const inner = this.#inner;
    if (isHarnessCall(options)) return act(inner, path, options);
    options?.signal?.throwIfAborted();
    const canonical = this.#canonical(path);
    if (canonical.error !== undefined) return canonical;
    const kind = operation === "read" || operation === "readRaw" ? "read" : "write";
    const target = canonical.path;
    const refusal =
      operation === "delete"
        ? refusalOf(await deletionMode(this.#judge, inner, target, options), kind, target)
        : await this.#judge.refusal(kind, target, options);
    return refusal ?? act(inner, target, await this.#judge.whenOpened(kind, options));
  }

  async #search<Result>(
    path: string | null | undefined,
    options: OperationOptions | undefined,
    act: (target: SearchTarget) => Promise<Result>,
  ): Promise<Result | FileError> {
    options?.signal?.throwIfAborted();
    const canonical = this.#canonical(path || ".");
    if (canonical.error !== undefined) return canonical;
    return act({ inner: this.#inner, judge: this.#judge, path: canonical.path, options });
  }

  /** The path in the inner backend's spelling, so that check and use see the same path. */
  #canonical(path: string): CanonicalPath {
    return canonicalPath(path, { base: this.workingDirectory });
  }
}

function unavailable(path: string): FileError {
  return { error: `This is not available for ${path}`, code: "UNAVAILABLE" };
}
