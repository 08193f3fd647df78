/** A backend under a policy: changes that are refused, a rate limit, a check of the caller, and an audit log. */

import {
  type Admitted,
  downloadAdmitted,
  type OnTransfer,
  uploadAdmitted,
} from "../../backends/admitted-transfers.ts";
import { sameDemand } from "../../backends/approval-demand.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  ExecuteOptions,
  ExecuteResponse,
  FileError,
  OperationOptions,
  SandboxBackendProtocol,
} from "../../backends/backend.ts";
import {
  type Forwarded,
  type ForwardedOperation,
  ForwardingBackend,
} from "../../backends/forwarding-backend.ts";
import { commandNoteOf, isSandboxProtocol } from "../../backends/is-sandbox.ts";
import { withOpenCheck, withoutOpenCheck } from "../../backends/open-check.ts";
import { followedPath } from "../../backends/real-path.ts";
import {
  type BackendSource,
  bindBackend,
  makeBackend,
  mayExecute,
  mayUseState,
} from "../../backends/resolve.ts";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import { type CanonicalPath, canonicalPath } from "../../paths.ts";
import { CHANGES, type ChangeOperation, checkedPrefixes, denied, deniedChange } from "./deny-prefixes.ts";
import { type AuditEvent, checkOptions, type PolicyOperation, type PolicyOptions } from "./policy-options.ts";
import { RateLimiter } from "./rate-limiter.ts";

export type { AuditEvent, PolicyCheck, PolicyOperation, PolicyOptions } from "./policy-options.ts";

interface Rules {
  readonly denyPrefixes: readonly string[];
  readonly limiter: RateLimiter | undefined;
  readonly options: PolicyOptions;
}

/** `execute` and the optional methods are there when the inner backend has them. */
export class PolicyBackend extends ForwardingBackend {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly id: string = "";
  readonly execute?: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;
  readonly mayExecute: boolean;
  readonly usesState: boolean;
  readonly #source: BackendSource;
  readonly #instance: BackendProtocol | undefined;
  readonly #rules: Rules;

  /** `inner` may be a factory or a class too: it is then asked once for each task. */
  constructor(inner: BackendSource, options: PolicyOptions = {}) {
    super();
    checkOptions(options);
    this.#source = inner;
    this.#rules = INHERITED.get(options) ?? {
      denyPrefixes: checkedPrefixes(options.denyPrefixes),
      limiter: options.rateLimit ? new RateLimiter(options.rateLimit) : undefined,
      options,
    };
    this.mayExecute = mayExecute(inner);
    this.usesState = mayUseState(inner);
    Object.assign(this, sameDemand(inner));
    if (typeof inner === "function") return;
    const backend = makeBackend(inner, { state: {} }) as BackendProtocol;
    this.#instance = backend;
    this.offer([backend], {
      uploadFiles: async (files, given) => {
        const paths = files.map(([path]) => path);
        return uploadAdmitted(files, await this.#admit("upload", paths, given), this.#noted("upload"));
      },
      downloadFiles: async (paths, given) =>
        downloadAdmitted(paths, await this.#admit("download", paths, given), this.#noted("download")),
      realPath: async (path, given) => backend.realPath?.(path, given) ?? path,
    });
    if (!isSandboxProtocol(backend)) return;
    this.#checkExecute();
    this.id = backend.id;
    this.execute = (command, given) => this.#execute(backend, command, given);
  }

  get workingDirectory(): string | undefined {
    return this.#instance?.workingDirectory;
  }

  get ignoresCase(): boolean | undefined {
    return this.#instance?.ignoresCase;
  }

  /** How commands see the files, for the model. */
  get commandNote(): string {
    return commandNoteOf(this.#instance);
  }

  /** The same rules, and one count of operations, around the inner backend's form for one task. */
  withRuntime(runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol> {
    const options = { ...this.#rules.options };
    INHERITED.set(options, this.#rules);
    const wrap = (inner: BackendProtocol): PolicyBackend => new PolicyBackend(inner, options);
    const made = makeBackend(this.#source, runtime);
    const bound =
      made instanceof Promise ? made.then((one) => bindBackend(one, runtime)) : bindBackend(made, runtime);
    return bound instanceof Promise ? bound.then(wrap) : wrap(bound);
  }

  async #admit(
    operation: "upload" | "download",
    paths: readonly string[],
    options?: OperationOptions,
  ): Promise<Admitted> {
    const inner = this.#now();
    const limited = this.#rules.limiter?.take();
    const judged: Judged = new Set();
    const targets = await Promise.all(
      paths.map(async (path) => {
        const refusal = limited ?? (await this.#refusal(inner, operation, path, judged, options));
        return refusal ?? this.#canonical(path).path ?? path;
      }),
    );
    return { inner, targets, options: this.#whenOpened(inner, operation, judged, options) };
  }

  #noted(operation: "upload" | "download"): OnTransfer {
    return (path, problem, refused) => this.#note(operation, path, problem, refused);
  }

  /** A refusal reads like the output of a command that could not run. */
  async #execute(
    inner: SandboxBackendProtocol,
    command: string,
    options?: ExecuteOptions,
  ): Promise<ExecuteResponse> {
    const refusal = this.#rules.limiter?.take() ?? (await this.#checked("execute", command));
    if (refusal !== undefined) {
      this.#note("execute", command, refusal, true);
      return { output: refusal.error, exitCode: 126, truncated: false };
    }
    return this.#audited("execute", command, async () => inner.execute(command, options));
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
    options?.signal?.throwIfAborted();
    const inner = this.#now();
    const judged: Judged = new Set();
    const refusal =
      this.#rules.limiter?.take() ?? (await this.#refusal(inner, operation, path, judged, options));
    if (refusal !== undefined) {
      this.#note(operation, path, refusal, true);
      return refusal;
    }
    const target = this.#canonical(path).path ?? path;
    const given = this.#whenOpened(inner, operation, judged, options);
    return this.#audited(operation, target, async () => act(inner, target, given));
  }

  /** Notes in `judged` which paths it allowed. */
  async #refusal(
    inner: BackendProtocol,
    operation: FileOperation,
    path: string,
    judged: Judged,
    options?: OperationOptions,
  ): Promise<FileError | undefined> {
    const canonical = this.#canonical(path);
    if (canonical.error !== undefined) return canonical;
    const { readOnly, check } = this.#rules.options;
    const { denyPrefixes } = this.#rules;
    const change = operation in CHANGES ? (operation as ChangeOperation) : undefined;
    if (change !== undefined && readOnly) return denied(change, "/");
    if (!check && (change === undefined || denyPrefixes.length === 0)) return undefined;
    const refusal = change && (await deniedChange(inner, change, canonical.path, denyPrefixes, options));
    if (refusal !== undefined) return refusal;
    const names = new Set([canonical.path, await followedPath(inner, canonical.path, options)]);
    for (const name of names) {
      const unchecked = await this.#checked(operation, name);
      if (unchecked !== undefined) return unchecked;
      judged.add(name);
    }
    return undefined;
  }

  /** Where a link leads somewhere else by the time it is opened, that is judged too. */
  #whenOpened<Options extends OperationOptions>(
    inner: BackendProtocol,
    operation: FileOperation,
    judged: Judged,
    options: Options | undefined,
  ): Options | undefined {
    if (judged.size === 0) return options;
    const plain = options && withoutOpenCheck(options);
    return withOpenCheck(options, {
      at: (path) => (judged.has(path) ? undefined : this.#refusal(inner, operation, path, judged, plain)),
    });
  }

  async #checked(operation: PolicyOperation, path: string): Promise<FileError | undefined> {
    const { check } = this.#rules.options;
    if (!check) return undefined;
    let result: unknown;
    try {
      result = await check(operation, path);
      if (result === undefined || result === null || result === true) return undefined;
    } catch (error) {
      result = error instanceof Error ? error.message : String(error);
    }
    const reason = typeof result === "string" && result !== "" ? result : undefined;
    return { error: reason ?? `${operation} is not allowed on ${path}`, code: "PERMISSION_DENIED" };
  }

  async #audited<Result extends object>(
    operation: PolicyOperation,
    path: string,
    act: () => Promise<Result>,
  ): Promise<Result> {
    let result: Result;
    try {
      result = await act();
    } catch (error) {
      this.#report({ operation, path, outcome: "failed" });
      throw error;
    }
    const failure = result as Partial<FileError>;
    this.#note(operation, path, failure.error === undefined ? undefined : (failure as FileError), false);
    return result;
  }

  #note(operation: PolicyOperation, path: string, problem: FileError | string | undefined, refused: boolean) {
    if (problem === undefined) return this.#report({ operation, path, outcome: "done" });
    const code = typeof problem === "string" ? problem : problem.code;
    this.#report({ operation, path, outcome: refused ? "refused" : "failed", code });
  }

  #report(event: AuditEvent): void {
    const { audit } = this.#rules.options;
    if (!audit) return;
    try {
      const answer: unknown = audit(event);
      if (answer instanceof Promise) answer.catch(() => {});
    } catch {
      // An auditor that fails is its owner's to notice; the operation has happened.
    }
  }

  /** The path in the inner backend's spelling, so that check and use see the same path. */
  #canonical(path: string): CanonicalPath {
    return canonicalPath(path, { base: this.workingDirectory });
  }

  #now(): BackendProtocol {
    if (this.#instance) return this.#instance;
    throw new DeepwrightError(
      "INVALID_INPUT",
      "PolicyBackend was used by itself, but its backend is made for each run.",
      { hint: "Use it as the backend of an agent, or give it an instance." },
    );
  }

  #checkExecute(): void {
    const { readOnly, allowExecute } = this.#rules.options;
    if (allowExecute || !(readOnly || this.#rules.denyPrefixes.length > 0)) return;
    throw new ConfigurationError(
      "INVALID_OPTION",
      "readOnly and denyPrefixes do not hold for commands, and this backend can run them.",
      { hint: "Use a backend without execute, or set allowExecute: true." },
    );
  }
}

type FileOperation = Exclude<PolicyOperation, "execute">;

/** Paths that the rules allow for one call, after links too. */
type Judged = Set<string>;

/** Rules that a policy for one task shares with the policy it was made from. */
const INHERITED = new WeakMap<PolicyOptions, Rules>();
