/**
 * Files that live in the state of a thread, in the channel `files`: kept with its checkpoints, seen by
 * nobody else.
 */
import { getConfig } from "@langchain/langgraph";
import { isTaskConfig, type TaskConfig, wholeConfig } from "../engine.ts";
import { ConfigurationError, DeepwrightError } from "../errors.ts";
import type { BackendProtocol, BackendRuntime, OperationOptions } from "./backend.ts";
import { recordMap } from "./file-map.ts";
import { FileMapBackend, type OpenFiles } from "./file-map-backend.ts";
import type { FilesState } from "./files-value.ts";
import type { OfThread } from "./harness-areas.ts";
import { taskFiles } from "./pending-files.ts";

export { filesReducer, filesValue } from "./files-value.ts";

export interface StateBackendOptions {
  /** Both forms are read; files are always written in today's. */
  readonly fileFormat?: "v1" | "v2";
}

export class StateBackend extends FileMapBackend implements OfThread {
  readonly isOfThread = true;
  readonly #runtime: BackendRuntime | undefined;

  /**
   * Without a runtime the files are those of the task that is running when a method is called. The older
   * form with `{ state }` reads that state and stores nothing: its changes come back as `filesUpdate`
   * for the caller to return.
   */
  constructor(options?: StateBackendOptions | null);
  constructor(runtime: BackendRuntime, options?: StateBackendOptions | null);
  constructor(first?: BackendRuntime | StateBackendOptions | null, second?: StateBackendOptions | null) {
    super();
    const runtime = first && "state" in first ? first : undefined;
    checkOptions((runtime === undefined ? first : second) ?? {});
    this.#runtime = runtime;
  }

  /** The same files for one task, without ambient context; where there is no task, for that state. */
  withRuntime(runtime: BackendRuntime): BackendProtocol {
    if (isTaskConfig(runtime.config)) return new TaskStateBackend(runtime.config);
    return runtime.state === undefined ? this : new StateBackend(runtime);
  }

  protected override open(options?: OperationOptions): OpenFiles | Promise<OpenFiles> {
    if (this.#runtime !== undefined) return openState(this.#runtime, options);
    const config: unknown = getConfig();
    if (isTaskConfig(config)) return openTask({ ...wholeConfig(config), signal: config.signal }, options);
    throw new DeepwrightError("INVALID_INPUT", "StateBackend was used outside a run: there is no state.", {
      hint: "Use it in a tool or node, or build it as new StateBackend({ state }).",
    });
  }
}

class TaskStateBackend extends FileMapBackend implements OfThread {
  readonly isOfThread = true;
  readonly #config: TaskConfig;

  constructor(config: TaskConfig) {
    super();
    this.#config = config;
  }

  protected override open(options?: OperationOptions): OpenFiles | Promise<OpenFiles> {
    return openTask(this.#config, options);
  }
}

/** An operation is refused as a whole once the run was stopped: nothing of it is written. */
async function openTask(config: TaskConfig, options: OperationOptions | undefined): Promise<OpenFiles> {
  const opened = taskFiles(config);
  const { files, commit } = opened instanceof Promise ? await opened : opened;
  options?.signal?.throwIfAborted();
  config.signal?.throwIfAborted();
  return { files, commit: (update) => commit(update) ?? {} };
}

function openState(runtime: BackendRuntime, options: OperationOptions | undefined): OpenFiles {
  options?.signal?.throwIfAborted();
  const files = (runtime.state?.files ?? {}) as FilesState;
  return { files: recordMap(files), commit: (filesUpdate) => ({ filesUpdate }) };
}

function checkOptions(options: object): void {
  const unknown = Object.keys(options).find((key) => key !== "fileFormat");
  if (unknown !== undefined)
    throw new ConfigurationError(
      "UNKNOWN_OPTION",
      `StateBackend takes nothing, or a runtime with 'state'; got ${unknown}.`,
    );
}
