/** Rules around any backend: what may not be changed, how often, and who is told. */

import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { type CanonicalPath, canonicalPath } from "../../paths.ts";
import { GIVES_OUR_RESULTS } from "../adapt/foreign-results.ts";
import { readRawFile } from "../adapt/raw-file.ts";
import { sameDemand } from "../approval-demand.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  DeleteResult,
  EditResult,
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileError,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocol,
  WriteResult,
} from "../backend.ts";
import { commandNoteOf, isSandboxProtocol } from "../is-sandbox.ts";
import { offersDelete } from "../offered-delete.ts";
import { withOpenCheck, withoutOpenCheck } from "../open-check.ts";
import { type BackendSource, bindBackend, makeBackend, mayExecute, mayUseState } from "../resolve.ts";
import { transferError } from "../transfer-error.ts";
import { type AuditEvent, checkOptions, type PolicyOperation, type PolicyOptions } from "./policy-options.ts";
import { RateLimiter } from "./policy-rate.ts";
import {
  CHANGES,
  type ChangeOperation,
  checkedPrefixes,
  denied,
  deniedChange,
  realName,
} from "./policy-rules.ts";

export type { AuditEvent, PolicyCheck, PolicyOperation, PolicyOptions } from "./policy-options.ts";

interface Rules {
  readonly denyPrefixes: readonly string[];
  readonly limiter: RateLimiter | undefined;
  readonly options: PolicyOptions;
}

/** `execute` and the optional methods are there when the inner backend has them. */
export class PolicyBackend implements BackendProtocol {
  static readonly [GIVES_OUR_RESULTS] = true;
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
    if (offersDelete(backend)) this.delete = (...given) => this.#delete(...given);
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
    return this.#guard("ls", path || ".", options, (inner, target, given) => inner.ls(target, given));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#guard("read", path, options, (inner, target, given) =>
      inner.read(target, offset, limit, given),
    );
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#guard("readRaw", path, options, (inner, target, given) => readRawFile(inner, target, given));
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#guard("write", path, options, (inner, target, given) => inner.write(target, content, given));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#guard("edit", path, options, (inner, target, given) =>
      inner.edit(target, oldString, newString, replaceAll, given),
    );
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.#guard("grep", path || ".", options, (inner, target, given) =>
      inner.grep(pattern, target, glob, maxCount, given),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#guard("glob", path || ".", options, (inner, target, given) =>
      inner.glob(pattern, target, given),
    );
  }

  #append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#guard("append", path, options, async (inner, target, given) =>
      inner.append ? inner.append(target, content, given) : unavailable(target),
    );
  }

  #delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#guard("delete", path, options, async (inner, target, given) =>
      inner.delete ? inner.delete(target, given) : unavailable(target),
    );
  }

  /** Files that may not be stored are answered in their place; the others are stored. */
  async #upload(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    const inner = this.#now();
    const limited = this.#rules.limiter?.take();
    const judged: Judged = new Set();
    const refusals = await Promise.all(
      files.map(async ([path]) => limited ?? (await this.#refusal(inner, "upload", path, judged, options))),
    );
    const given = this.#whenOpened(inner, "upload", judged, options);
    const allowed = files.flatMap(([path, bytes], index) =>
      refusals[index] === undefined ? [[this.#canonical(path).path ?? path, bytes] as const] : [],
    );
    const stored = allowed.length === 0 ? [] : ((await inner.uploadFiles?.(allowed, given)) ?? []);
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
    const judged: Judged = new Set();
    const refusals = await Promise.all(
      paths.map(async (path) => limited ?? (await this.#refusal(inner, "download", path, judged, options))),
    );
    const given = this.#whenOpened(inner, "download", judged, options);
    const allowed = paths.flatMap((path, index) =>
      refusals[index] === undefined ? [this.#canonical(path).path ?? path] : [],
    );
    const read = allowed.length === 0 ? [] : ((await inner.downloadFiles?.(allowed, given)) ?? []);
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

  async #guard<Result extends { readonly error?: string }, Options extends OperationOptions>(
    operation: FileOperation,
    path: string,
    options: Options | undefined,
    act: (
      inner: BackendProtocol,
      target: string,
      options: Options | undefined,
    ) => Result | FileError | Promise<Result | FileError>,
  ): Promise<Result | FileError> {
    options?.signal?.throwIfAborted();
    const inner = this.#now();
    const judged: Judged = new Set();
    const refusal =
      this.#rules.limiter?.take() ?? (await this.#refusal(inner, operation, path, judged, options));
    if (refusal !== undefined) {
      this.#tell(operation, path, refusal, true);
      return refusal;
    }
    const target = this.#canonical(path).path ?? path;
    const given = this.#whenOpened(inner, operation, judged, options);
    return this.#told(operation, target, async () => act(inner, target, given));
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
    const names = new Set([canonical.path, await realName(inner, canonical.path, options)]);
    const refusal = change && (await deniedChange(inner, change, names, denyPrefixes, options));
    if (refusal !== undefined) return refusal;
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

type FileOperation = Exclude<PolicyOperation, "execute">;

/** Paths that the rules allow for one call, after links too. */
type Judged = Set<string>;

/** For a file the backend said nothing about. */
const REFUSED = { content: null, error: "permission_denied" } as const;

/** What a policy for one task has in common with the one it was made from. */
const INHERITED = new WeakMap<PolicyOptions, Rules>();

function unavailable(path: string): FileError {
  return { error: `This is not available for ${path}`, code: "UNAVAILABLE" };
}
