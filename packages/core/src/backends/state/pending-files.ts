/**
 * Changes to files made during a superstep, shared by all its tasks.
 *
 * A channel shows a task the state at the start of the superstep. Tool calls of one turn run side by
 * side, so each must also see what the others have changed, or all but the last change of a file would be
 * lost. The engine applies the writes of tasks in task order, not in the order of time: a task that comes
 * earlier in that order cannot change a file after a later one did. It gets an error that says so.
 */
import {
  checkpointerOf,
  graphNamespace,
  isResumed,
  readChannel,
  sendWrites,
  type TaskConfig,
  unfinishedStep,
} from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import type { AnyFileData, FileError, FilesUpdate } from "../backend.ts";
import { type FileMap, fileIn, somePathUnder, sortedPaths } from "../file-map/file-map.ts";
import { asFile, type FilesState, type FilesStateUpdate } from "./files-value.ts";

const CHANNEL = "files";

/** The files as a task sees them, and the way to change them. */
export interface TaskFiles {
  readonly files: FileMap;
  /** All of them as one record, which is not to be changed; the channel's own while nothing was changed. */
  record(): FilesState;
  /** Whether a later call has changed the file, so that changes of this task would be lost. */
  isTaken(path: string): boolean;
  /** The file at the start of the superstep, and the versions its tasks have made; undefined: not there. */
  versions(path: string): readonly (AnyFileData | undefined)[];
  /** Sends the changes to the channel; returns why not when a later call has changed one of the files. */
  commit(update: FilesUpdate): FileError | undefined;
}

/** The files of the task that `config` belongs to; a promise only in a run that was resumed. */
export function taskFiles(config: TaskConfig): TaskFiles | Promise<TaskFiles> {
  const pending = pendingFor(config);
  if (pending.ready === undefined) return filesOver(config, pending);
  return pending.ready.then(() => filesOver(config, pending));
}

function filesOver(config: TaskConfig, pending: PendingFiles): TaskFiles {
  const base = readChannel(config, CHANNEL) as FilesState | undefined;
  const task = identityOf(config);
  pending.begin(task);
  return {
    files: pending.over(base ?? {}),
    record: () => pending.record(base ?? {}),
    isTaken: (path) => pending.isTaken(task, path),
    versions: (path) => pending.versions(base ?? {}, path),
    commit(update) {
      requireChannel(base);
      const conflict = pending.stage(task, update);
      if (conflict === undefined) sendWrites(config, [[CHANNEL, update]]);
      return conflict;
    },
  };
}

/** The engine drops writes to a channel that does not exist without a word. */
function requireChannel(base: FilesState | undefined): void {
  if (base !== undefined) return;
  throw new DeepwrightError("INVALID_INPUT", "This graph has no state channel 'files' to write to.", {
    hint: "Add createFilesystemMiddleware(), or `files: filesValue` to the state schema.",
  });
}

// -- one superstep --------------------------------------------------------------------------------

type TaskOrder = readonly unknown[];

interface TaskIdentity {
  readonly id: string;
  readonly attempt: number;
  /** Where the engine applies the writes of this task; undefined when unknown. */
  readonly order: TaskOrder | undefined;
}

interface Change {
  readonly task: TaskIdentity;
  readonly data: AnyFileData | null;
}

class PendingFiles {
  readonly checkpointId: string;
  /** Settled once the changes an earlier run left behind are known; undefined when there is nothing to wait for. */
  ready: Promise<void> | undefined;
  readonly #changes = new Map<string, Change[]>();
  readonly #attempts = new Map<string, number>();
  #paths: readonly string[] | undefined;
  #record: FilesState | undefined;

  constructor(checkpointId: string) {
    this.checkpointId = checkpointId;
  }

  over(base: FilesState): FileMap {
    return {
      get: (path) => {
        const change = this.#changes.get(path)?.at(-1);
        return change === undefined ? fileIn(base, path) : (change.data ?? undefined);
      },
      paths: () => (this.#changes.size === 0 ? sortedPaths(base) : this.#mergedPaths(base)),
      holdsUnder: (prefix) => this.#holdsUnder(prefix, base),
    };
  }

  /** A repeated task starts over: the engine has dropped its earlier writes. */
  begin(task: TaskIdentity): void {
    const known = this.#attempts.get(task.id);
    if (known === task.attempt) return;
    this.#attempts.set(task.id, task.attempt);
    if (known === undefined) return;
    for (const [path, changes] of this.#changes) {
      const rest = changes.filter((change) => change.task.id !== task.id);
      if (rest.length === 0) this.#changes.delete(path);
      else this.#changes.set(path, rest);
    }
    this.#paths = undefined;
    this.#record = undefined;
  }

  record(base: FilesState): FilesState {
    if (this.#changes.size === 0) return base;
    if (this.#record !== undefined) return this.#record;
    const record = { ...base };
    for (const [path, changes] of this.#changes) {
      const data = changes.at(-1)?.data;
      if (data == null) delete record[path];
      else record[path] = data;
    }
    this.#record = record;
    return record;
  }

  versions(base: FilesState, path: string): readonly (AnyFileData | undefined)[] {
    const changes = this.#changes.get(path) ?? [];
    return [fileIn(base, path), ...changes.map(({ data }) => data ?? undefined)];
  }

  isTaken(task: TaskIdentity, path: string): boolean {
    return isAfter(this.#changes.get(path)?.at(-1)?.task, task);
  }

  /** All or nothing. */
  stage(task: TaskIdentity, update: FilesUpdate): FileError | undefined {
    const paths = Object.keys(update);
    const lost = paths.find((path) => this.isTaken(task, path));
    if (lost !== undefined) return conflict(lost);
    for (const path of paths) this.#add(path, { task, data: update[path] ?? null });
    return undefined;
  }

  /** Takes in the writes of a finished task of an earlier run. Its position in the task order is unknown. */
  restore(update: FilesStateUpdate): void {
    const task = { id: "", attempt: 0, order: undefined };
    for (const [path, data] of Object.entries(update)) this.#add(path, { task, data: asFile(data) });
  }

  #add(path: string, change: Change): void {
    const changes = this.#changes.get(path);
    if (changes === undefined) this.#changes.set(path, [change]);
    else changes.push(change);
    this.#paths = undefined;
    this.#record = undefined;
  }

  #holdsUnder(prefix: string, base: FilesState): boolean {
    for (const [path, changes] of this.#changes)
      if (path.startsWith(prefix) && changes.at(-1)?.data != null) return true;
    return somePathUnder(base, prefix, (path) => !this.#changes.has(path));
  }

  #mergedPaths(base: FilesState): readonly string[] {
    if (this.#paths !== undefined) return this.#paths;
    const kept = sortedPaths(base).filter((path) => !this.#changes.has(path));
    for (const [path, changes] of this.#changes) if (changes.at(-1)?.data != null) kept.push(path);
    this.#paths = kept.sort();
    return this.#paths;
  }
}

function identityOf(config: TaskConfig): TaskIdentity {
  const info = config.executionInfo as { taskId?: string; nodeAttempt?: number } | undefined;
  const path: unknown = config.metadata?.langgraph_path;
  return {
    id: info?.taskId ?? "",
    attempt: info?.nodeAttempt ?? 1,
    order: Array.isArray(path) ? path.slice(0, 3) : undefined,
  };
}

/** Whether the engine applies the writes of `other` after those of `task`, or might. */
function isAfter(other: TaskIdentity | undefined, task: TaskIdentity): boolean {
  if (other === undefined || other.id === task.id) return false;
  if (other.order === undefined || task.order === undefined) return true;
  return compareOrder(other.order, task.order) > 0;
}

/** As the engine sorts task paths: element by element, the shorter first. */
function compareOrder(one: TaskOrder, other: TaskOrder): number {
  for (let index = 0; index < Math.min(one.length, other.length); index++) {
    const left = one[index] as string | number;
    const right = other[index] as string | number;
    if (left < right) return -1;
    if (left > right) return 1;
  }
  return one.length - other.length;
}

function conflict(path: string): FileError {
  return {
    error: `'${path}' was changed by another tool call of this turn. Nothing was done: read the file again and retry.`,
    code: "CONFLICT",
  };
}

// -- which superstep ------------------------------------------------------------------------------

/** Per run, and per graph within it (a child has a namespace of its own), the latest superstep. */
const runs = new WeakMap<object, Map<string, PendingFiles>>();
/** For calls without a known superstep: each sees at least its own changes. */
const lonelyCalls = new WeakMap<object, PendingFiles>();

function pendingFor(config: TaskConfig): PendingFiles {
  const { control, executionInfo, configurable } = config;
  if (control === undefined || executionInfo?.checkpointId === undefined)
    return remembered(lonelyCalls, configurable as object, () => new PendingFiles(""));
  const supersteps = remembered(runs, control, () => new Map<string, PendingFiles>());
  const namespace = graphNamespace(config);
  const known = supersteps.get(namespace);
  if (known?.checkpointId === executionInfo.checkpointId) return known;
  forgetChildren(supersteps, namespace);
  const pending = new PendingFiles(executionInfo.checkpointId);
  pending.ready = restoreUnfinished(pending, config, namespace);
  supersteps.set(namespace, pending);
  return pending;
}

function remembered<Value>(known: WeakMap<object, Value>, key: object, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** Children ran inside tasks of a superstep that is over. */
function forgetChildren(supersteps: Map<string, PendingFiles>, namespace: string): void {
  const prefix = namespace === "" ? "" : `${namespace}|`;
  for (const key of supersteps.keys())
    if (key !== namespace && key.startsWith(prefix)) supersteps.delete(key);
}

/**
 * In a resumed superstep some tasks finished in an earlier run. They do not run again and the channel does
 * not show their writes yet, so these are read from the saver.
 */
function restoreUnfinished(
  pending: PendingFiles,
  config: TaskConfig,
  namespace: string,
): Promise<void> | undefined {
  const saver = checkpointerOf(config);
  if (!isResumed(config) || !saver) return undefined;
  const configurable = {
    thread_id: config.configurable?.thread_id,
    checkpoint_ns: namespace,
    checkpoint_id: pending.checkpointId,
  };
  return saver.getTuple({ configurable }).then((tuple) => {
    for (const writes of unfinishedStep(tuple?.pendingWrites).finished)
      for (const [channel, value] of writes)
        if (channel === CHANNEL && value) pending.restore(value as FilesStateUpdate);
    pending.ready = undefined;
  });
}
