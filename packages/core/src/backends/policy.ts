/** Rules around any backend: what may not be changed, how often, and who is told. */
import { ConfigurationError, DeepwrightError } from "../errors.ts";
import { type CanonicalPath, canonicalPath } from "../paths.ts";
import { sameDemand } from "./approval-demand.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  DeleteResult,
  EditResult,
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileError,
  FileErrorCode,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocol,
  WriteResult,
} from "./backend.ts";
import { commandNoteOf, isSandboxProtocol } from "./is-sandbox.ts";
import { type RateLimit, RateLimiter } from "./policy-rate.ts";
import {
  CHANGES,
  type ChangeOperation,
  checkedPrefixes,
  denied,
  deniedChange,
  realName,
} from "./policy-rules.ts";
import { type BackendSource, bindBackend, makeBackend, mayExecute, mayUseState } from "./resolve.ts";
import { transferError } from "./transfer-error.ts";

export type PolicyOperation =
  | ChangeOperation
  | "ls"
  | "read"
  | "readRaw"
  | "grep"
  | "glob"
  | "download"
  | "execute";

export interface AuditEvent {
  readonly operation: PolicyOperation;
  /** Of `execute` the command. */
  readonly path: string;
  /** `refused` by this policy, `failed` in the backend, or `done`. */
  readonly outcome: "done" | "refused" | "failed";
  /** Absent for what was done, and for what was thrown. */
  readonly code?: FileErrorCode | string;
}

type Reason = string | false | null | undefined;

/** A text says why not. What it throws does too, and `false` refuses as well. */
export type PolicyCheck = (operation: PolicyOperation, path: string) => Reason | Promise<Reason>;

/** null means absent. */
export interface PolicyOptions {
  /** Directories in which nothing may be changed; reading is not affected. */
  readonly denyPrefixes?: readonly string[] | null;
  readonly readOnly?: boolean | null;
  readonly rateLimit?: RateLimit | null;
  /** Told after each operation; nothing it does can change the result. */
  readonly audit?: ((event: AuditEvent) => unknown) | null;
  /** Asked before each operation, about the path that was given and, where links lead elsewhere, about that. */
  readonly check?: PolicyCheck | null;
  /** Lets commands through though they go around rules about paths. */
  readonly allowExecute?: boolean | null;
}

const OPTION_NAMES = ["denyPrefixes", "readOnly", "rateLimit", "audit", "check", "allowExecute"];

interface Rules {
  readonly denyPrefixes: readonly string[];
  readonly limiter: RateLimiter | undefined;
  readonly options: PolicyOptions;
}

/** `execute` and the optional methods are there when the inner backend has them. */
export class PolicyBackend implements BackendProtocol {
  readonly id: string = "";
  readonly append?: (path: string, content: string, options?: OperationOptions) => Promise<WriteResult>;
  readonly delete?: (path: string, options?: OperationOptions) => Promise<DeleteResult>;
  readonly uploadFiles?: (
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ) => Promise<FileUploadResponse[]>;
  readonly downloadFiles?: (
    paths: readonly string[],
    options?: OperationOptions,
  ) => Promise<FileDownloadResponse[]>;
  readonly realPath?: BackendProtocol["realPath"];
  readonly execute?: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;
  readonly mayExecute: boolean;
  readonly usesState: boolean;
  readonly #source: BackendSource;
  readonly #instance: BackendProtocol | undefined;
  readonly #rules: Rules;

  /** `inner` may be a factory or a class too: it is then asked once for each task. */
  constructor(inner: BackendSource, options: PolicyOptions = {}) {
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
    if (backend.append) this.append = (...given) => this.#append(...given);
    if (backend.delete) this.delete = (...given) => this.#delete(...given);
    if (backend.uploadFiles) this.uploadFiles = (...given) => this.#upload(...given);
    if (backend.downloadFiles) this.downloadFiles = (...given) => this.#download(...given);
    if (backend.realPath) this.realPath = (path, given) => backend.realPath?.(path, given) ?? path;
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

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#guard("ls", path || ".", options, (inner, target) => inner.ls(target, options));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#guard("read", path, options, (inner, target) => inner.read(target, offset, limit, options));
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#guard("readRaw", path, options, (inner, target) => inner.readRaw(target, options));
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#guard("write", path, options, (inner, target) => inner.write(target, content, options));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#guard("edit", path, options, (inner, target) =>
      inner.edit(target, oldString, newString, replaceAll, options),
    );
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.#guard("grep", path || ".", options, (inner, target) =>
      inner.grep(pattern, target, glob, maxCount, options),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#guard("glob", path || ".", options, (inner, target) => inner.glob(pattern, target, options));
  }

  #append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#guard("append", path, options, async (inner, target) =>
      inner.append ? inner.append(target, content, options) : unavailable(target),
    );
  }

  #delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#guard("delete", path, options, async (inner, target) =>
      inner.delete ? inner.delete(target, options) : unavailable(target),
    );
  }

  /** Files that may not be stored are answered in their place; the others are stored. */
  async #upload(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    const inner = this.#now();
    const limited = this.#rules.limiter?.take();
    const refusals = await Promise.all(
      files.map(async ([path]) => limited ?? (await this.#refusal(inner, "upload", path, options))),
    );
    const allowed = files.flatMap(([path, bytes], index) =>
      refusals[index] === undefined ? [[this.#canonical(path).path ?? path, bytes] as const] : [],
    );
    const stored = allowed.length === 0 ? [] : ((await inner.uploadFiles?.(allowed, options)) ?? []);
    const answers = stored[Symbol.iterator]();
    const responses = files.map(([path], index): FileUploadResponse => {
      const refusal = refusals[index];
      const error = refusal ? transferError(refusal) : (answers.next().value ?? REFUSED).error;
      this.#tell("upload", path, refusal ?? error ?? undefined, refusal !== undefined);
      return { path, error };
    });
    return Object.assign(responses, "filesUpdate" in stored ? { filesUpdate: stored.filesUpdate } : {});
  }

  async #download(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    const inner = this.#now();
    const limited = this.#rules.limiter?.take();
    const refusals = await Promise.all(
      paths.map(async (path) => limited ?? (await this.#refusal(inner, "download", path, options))),
    );
    const allowed = paths.flatMap((path, index) =>
      refusals[index] === undefined ? [this.#canonical(path).path ?? path] : [],
    );
    const read = allowed.length === 0 ? [] : ((await inner.downloadFiles?.(allowed, options)) ?? []);
    const answers = read[Symbol.iterator]();
    return paths.map((path, index): FileDownloadResponse => {
      const refusal = refusals[index];
      const answer = refusal ? { content: null, error: transferError(refusal) } : answers.next().value;
      const { content, error } = answer ?? REFUSED;
      this.#tell("download", path, refusal ?? error ?? undefined, refusal !== undefined);
      return { path, content, error };
    });
  }

  /** A refusal reads like the output of a command that could not run. */
  async #execute(
    inner: SandboxBackendProtocol,
    command: string,
    options?: ExecuteOptions,
  ): Promise<ExecuteResponse> {
    const refusal = this.#rules.limiter?.take() ?? (await this.#checked("execute", command));
    if (refusal !== undefined) {
      this.#tell("execute", command, refusal, true);
      return { output: refusal.error, exitCode: 126, truncated: false };
    }
    return this.#told("execute", command, async () => inner.execute(command, options));
  }

  async #guard<Result extends { readonly error?: string }>(
    operation: Exclude<PolicyOperation, "execute">,
    path: string,
    options: OperationOptions | undefined,
    act: (inner: BackendProtocol, target: string) => Result | FileError | Promise<Result | FileError>,
  ): Promise<Result | FileError> {
    options?.signal?.throwIfAborted();
    const inner = this.#now();
    const refusal = this.#rules.limiter?.take() ?? (await this.#refusal(inner, operation, path, options));
    if (refusal !== undefined) {
      this.#tell(operation, path, refusal, true);
      return refusal;
    }
    const target = this.#canonical(path).path ?? path;
    return this.#told(operation, target, async () => act(inner, target));
  }

  async #refusal(
    inner: BackendProtocol,
    operation: Exclude<PolicyOperation, "execute">,
    path: string,
    options?: OperationOptions,
  ): Promise<FileError | undefined> {
    const canonical = this.#canonical(path);
    if (canonical.error !== undefined) return canonical;
    if (operation in CHANGES) {
      const change = operation as ChangeOperation;
      if (this.#rules.options.readOnly) return denied(change, "/");
      const refusal = await deniedChange(inner, change, canonical.path, this.#rules.denyPrefixes, options);
      if (refusal !== undefined) return refusal;
    }
    if (!this.#rules.options.check) return undefined;
    const real = await realName(inner, canonical.path, options);
    const refusal = await this.#checked(operation, canonical.path);
    return refusal ?? (real === canonical.path ? undefined : this.#checked(operation, real));
  }

  async #checked(operation: PolicyOperation, path: string): Promise<FileError | undefined> {
    const { check } = this.#rules.options;
    if (!check) return undefined;
    let reason: unknown;
    try {
      reason = await check(operation, path);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (reason === false) reason = `${operation} is not allowed on ${path}`;
    return typeof reason === "string" && reason !== ""
      ? { error: reason, code: "PERMISSION_DENIED" }
      : undefined;
  }

  async #told<Result extends object>(
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
    this.#tell(operation, path, failure.error === undefined ? undefined : (failure as FileError), false);
    return result;
  }

  #tell(operation: PolicyOperation, path: string, problem: FileError | string | undefined, refused: boolean) {
    if (problem === undefined) return this.#report({ operation, path, outcome: "done" });
    const code = typeof problem === "string" ? problem : problem.code;
    this.#report({ operation, path, outcome: refused ? "refused" : "failed", code });
  }

  #report(event: AuditEvent): void {
    const { audit } = this.#rules.options;
    if (!audit) return;
    try {
      const told: unknown = audit(event);
      if (told instanceof Promise) told.catch(() => {});
    } catch {
      // An auditor that fails is its owner's to notice; the operation has happened.
    }
  }

  /** As the inner backend reads it: what is judged is what is used. */
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
      { hint: "Use a backend without execute, or say allowExecute: true." },
    );
  }
}

/** For a file the backend said nothing about. */
const REFUSED = { content: null, error: "permission_denied" } as const;

/** What a policy for one task has in common with the one it was made from. */
const INHERITED = new WeakMap<PolicyOptions, Rules>();

function unavailable(path: string): FileError {
  return { error: `This is not available for ${path}`, code: "UNAVAILABLE" };
}

function checkOptions(options: PolicyOptions): void {
  const unknown = Object.keys(options).find((key) => !OPTION_NAMES.includes(key));
  if (unknown === undefined) return;
  throw new ConfigurationError("UNKNOWN_OPTION", `PolicyBackend has no option '${unknown}'.`, {
    hint: `Its options are: ${OPTION_NAMES.join(", ")}.`,
  });
}
