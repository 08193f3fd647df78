/** A backend with permissions in front of it: the one place where rules are enforced, below every tool. */

import { GIVES_OUR_RESULTS } from "../backends/adapt/foreign-results.ts";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import { sameDemand } from "../backends/approval-demand.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  ClosedPaths,
  DeleteResult,
  EditResult,
  ExecuteOptions,
  FileDownloadResponse,
  FileError,
  FilesUpdate,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocol,
  TransferErrorCode,
  WriteResult,
} from "../backends/backend.ts";
import { CHILD_FILES, type ChildFilesRequest, type WithChildFiles } from "../backends/child-files.ts";
import { commandReachOf, withCommandReach } from "../backends/command-reach.ts";
import type { OfThread } from "../backends/harness-areas.ts";
import { isHarnessCall } from "../backends/harness-call.ts";
import { commandNoteOf, isSandboxProtocol } from "../backends/is-sandbox.ts";
import { offersDelete } from "../backends/offered-delete.ts";
import { openCheckOf } from "../backends/open-check.ts";
import {
  type BackendSource,
  bindBackend,
  type KnownFactory,
  makeBackend,
  mayExecute,
  mayUseState,
} from "../backends/resolve.ts";
import { transferError } from "../backends/transfer-error.ts";
import { ConfigurationError, DeepwrightError } from "../errors.ts";
import { type CanonicalPath, canonicalPath } from "../paths.ts";
import { closedPaths, type UnkeptRule } from "./closed-paths.ts";
import { deletionMode } from "./guard-delete.ts";
import { globAllowed, grepAllowed, lsAllowed, type SearchTarget } from "./guard-search.ts";
import { Judge, refusalOf } from "./judge.ts";
import { checkPermissions, type FilesystemOperation, type PermissionList, type Rules } from "./rules.ts";

type Uploads = readonly (readonly [string, Uint8Array])[];
type UploadResponses = FileUploadResponse[] & { filesUpdate?: FilesUpdate };

/**
 * The same source under rules: an instance, or what a factory or class makes. Without rules the source itself.
 * Throws PERMISSIONS_WITH_EXECUTE for one that runs commands, if those would go around the rules.
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

/** What is closed for each command so that none goes around the rules, or why one would; undefined: a run will tell. */
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
export class GuardedBackend implements BackendProtocol, OfThread, WithChildFiles {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly id: string = "";
  readonly enforcesPermissions?: true;
  readonly closesPaths?: true;
  readonly execute?: SandboxBackendProtocol["execute"];
  readonly append?: BackendProtocol["append"];
  readonly delete?: BackendProtocol["delete"];
  readonly uploadFiles?: BackendProtocol["uploadFiles"];
  readonly downloadFiles?: BackendProtocol["downloadFiles"];
  readonly realPath?: BackendProtocol["realPath"];
  readonly [CHILD_FILES]?: NonNullable<WithChildFiles[typeof CHILD_FILES]>;
  readonly #inner: BackendProtocol;
  readonly #rules: Rules;
  readonly #judge: Judge;

  /** With a runtime, `inner` is bound to it. */
  constructor(inner: BackendProtocol, rules: Rules, runtime?: BackendRuntime) {
    this.#inner = inner;
    this.#rules = rules;
    this.#judge = new Judge(inner, rules, runtime);
    if (inner.append) this.append = (...given) => this.#append(...given);
    if (offersDelete(inner)) this.delete = (...given) => this.#delete(...given);
    if (inner.uploadFiles) this.uploadFiles = (...given) => this.#upload(...given);
    if (inner.downloadFiles) this.downloadFiles = (...given) => this.#download(...given);
    if (inner.realPath) this.realPath = (...given) => this.#realPath(...given);
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

  /** What a factory makes is known only now. */
  withRuntime(runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol> {
    const wrap = (inner: BackendProtocol): BackendProtocol => {
      const held = holdCommands(inner, this.#rules) ?? COMMANDS;
      if ("problem" in held) throw new DeepwrightError(...withExecute(held));
      return new GuardedBackend(inner, this.#rules, runtime);
    };
    const bound = bindBackend(this.#inner, runtime);
    return bound instanceof Promise ? bound.then(wrap) : wrap(bound);
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    if (isHarnessCall(options)) return this.#inner.ls(path, options);
    return this.#search(path, options, lsAllowed);
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    if (isHarnessCall(options)) return this.#inner.glob(pattern, path, options);
    return this.#search(path, options, (target) => globAllowed(pattern, target));
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    if (isHarnessCall(options)) return this.#inner.grep(pattern, path, glob, maxCount, options);
    return this.#search(path, options, (target) => grepAllowed({ pattern, glob, maxCount }, target));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#on("read", path, options, (target, given) => this.#inner.read(target, offset, limit, given));
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#on("read", path, options, (target, given) => readRawFile(this.#inner, target, given));
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#on("write", path, options, (target, given) => this.#inner.write(target, content, given));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#on("write", path, options, (target, given) =>
      this.#inner.edit(target, oldString, newString, replaceAll, given),
    );
  }

  async #append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#on(
      "write",
      path,
      options,
      (target, given) => this.#inner.append?.(target, content, given) ?? unavailable(target),
    );
  }

  async #delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    const inner = this.#inner;
    const act = (target: string, given?: OperationOptions) =>
      inner.delete?.(target, given) ?? unavailable(target);
    if (isHarnessCall(options)) return act(path, options);
    const canonical = this.#canonical(path);
    if (canonical.error !== undefined) return canonical;
    const mode = await deletionMode(this.#judge, inner, canonical.path, options);
    const refusal = refusalOf(mode, "write", canonical.path);
    return refusal ?? act(canonical.path, await this.#judge.whenOpened("write", options));
  }

  /** Files that may not be stored are answered in their place; the others are stored. */
  async #upload(files: Uploads, options?: OperationOptions): Promise<UploadResponses> {
    const inner = this.#inner;
    if (isHarnessCall(options)) return (await inner.uploadFiles?.(files, options)) ?? [];
    const judged = await this.#judged(
      "write",
      files.map(([path]) => path),
      options,
    );
    const allowed = files.flatMap(([, bytes], index) => {
      const { target } = judged[index] as JudgedPath;
      return target === undefined ? [] : [[target, bytes] as const];
    });
    const given = await this.#judge.whenOpened("write", options);
    const stored: UploadResponses =
      allowed.length === 0 ? [] : ((await inner.uploadFiles?.(allowed, given)) ?? []);
    const answers = stored[Symbol.iterator]();
    const responses: UploadResponses = files.map(([path], index) => {
      const { target, error } = judged[index] as JudgedPath;
      return { path, error: target === undefined ? error : (answers.next().value ?? MISSING).error };
    });
    if (stored.filesUpdate) responses.filesUpdate = stored.filesUpdate;
    return responses;
  }

  async #download(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    const inner = this.#inner;
    if (isHarnessCall(options)) return (await inner.downloadFiles?.(paths, options)) ?? [];
    const judged = await this.#judged("read", paths, options);
    const allowed = judged.flatMap(({ target }) => target ?? []);
    const given = await this.#judge.whenOpened("read", options);
    const read = allowed.length === 0 ? [] : ((await inner.downloadFiles?.(allowed, given)) ?? []);
    const answers = read[Symbol.iterator]();
    return paths.map((path, index) => {
      const { target, error } = judged[index] as JudgedPath;
      if (target === undefined) return { path, content: null, error };
      return { ...(answers.next().value ?? MISSING), path };
    });
  }

  async #judged(
    operation: FilesystemOperation,
    paths: readonly string[],
    options?: OperationOptions,
  ): Promise<readonly JudgedPath[]> {
    return Promise.all(
      paths.map(async (path): Promise<JudgedPath> => {
        const canonical = this.#canonical(path);
        if (canonical.error !== undefined) return { error: "invalid_path" };
        const refusal = await this.#judge.refusal(operation, canonical.path, options);
        return refusal ? { error: transferError(refusal) } : { target: canonical.path, error: null };
      }),
    );
  }

  /** Where a link leads is told only about what may be read. */
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

  /** The loader of skills asks, as the harness; others get what the protocol gives them. */
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

  async #on<Result extends { readonly error?: string }, Options extends OperationOptions>(
    operation: FilesystemOperation,
    path: string,
    options: Options | undefined,
    act: (target: string, options: Options | undefined) => Result | FileError | Promise<Result | FileError>,
  ): Promise<Result | FileError> {
    if (isHarnessCall(options)) return act(path, options);
    options?.signal?.throwIfAborted();
    const canonical = this.#canonical(path);
    if (canonical.error !== undefined) return canonical;
    const refusal = await this.#judge.refusal(operation, canonical.path, options);
    return refusal ?? act(canonical.path, await this.#judge.whenOpened(operation, options));
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

  /** As the inner backend reads it: what is judged is what is used. */
  #canonical(path: string): CanonicalPath {
    return canonicalPath(path, { base: this.workingDirectory });
  }
}

/** `target` is there for what is allowed. */
interface JudgedPath {
  readonly target?: string;
  readonly error: TransferErrorCode | null;
}

/** For a file the backend said nothing about. */
const MISSING = { content: null, error: "permission_denied" } as const;

function unavailable(path: string): FileError {
  return { error: `This is not available for ${path}`, code: "UNAVAILABLE" };
}
