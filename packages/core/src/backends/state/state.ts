/**
 * Files in the state of a thread, in the channel `files`: stored with its checkpoints, and visible to this thread only.
 */

import { getConfig } from "@langchain/langgraph";
import { checkNames } from "../../check-options.ts";
import { isTaskConfig, type TaskConfig, wholeConfig } from "../../engine/engine.ts";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import type { BackendProtocol, BackendRuntime, OperationOptions } from "../backend.ts";
import { type FileFormat, recordMap } from "../file-map/file-map.ts";
import { FileMapBackend, type OpenFiles } from "../file-map/file-map-backend.ts";
import type { OfThread } from "../harness-areas.ts";
import type { FilesState } from "./files-value.ts";
import { type TaskFiles, taskFiles } from "./pending-files.ts";

export { filesReducer, filesValue } from "./files-value.ts";

export interface StateBackendOptions {
  /** `v1` stores text one string a line, for older readers of the thread; default `v2`. Both are read. */
  readonly fileFormat?: FileFormat;
}

export class StateBackend extends FileMapBackend implements OfThread {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly isOfThread = true;
  protected override readonly fileFormat: FileFormat;
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
    const options = ((runtime === undefined ? first : second) ?? {}) as StateBackendOptions;
    checkOptions(options);
    this.fileFormat = options.fileFormat ?? "v2";
    this.#runtime = runtime;
  }

  /** The same files for one task, without ambient context; where there is no task, for that state. */
  withRuntime(runtime: BackendRuntime): BackendProtocol {
    const { fileFormat } = this;
    if (isTaskConfig(runtime.config)) return new TaskStateBackend(runtime.config, fileFormat);
    return runtime.state === undefined ? this : new StateBackend(runtime, { fileFormat });
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
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly isOfThread = true;
  protected override readonly fileFormat: FileFormat;
  readonly #config: TaskConfig;

  constructor(config: TaskConfig, fileFormat: FileFormat) {
    super();
    this.fileFormat = fileFormat;
    this.#config = config;
  }

  protected override open(options?: OperationOptions): OpenFiles | Promise<OpenFiles> {
    return openTask(this.#config, options);
  }
}

/** An operation is refused as a whole once the run was stopped: nothing of it is written. */
function openTask(config: TaskConfig, options: OperationOptions | undefined): OpenFiles | Promise<OpenFiles> {
  const open = ({ files, commit }: TaskFiles): OpenFiles => {
    options?.signal?.throwIfAborted();
    config.signal?.throwIfAborted();
    return { files, commit: (update) => commit(update) ?? {} };
  };
  const found = taskFiles(config);
  return found instanceof Promise ? found.then(open) : open(found);
}

function openState(runtime: BackendRuntime, options: OperationOptions | undefined): OpenFiles {
  options?.signal?.throwIfAborted();
  const files = (runtime.state?.files ?? {}) as FilesState;
  return { files: recordMap(files), commit: (filesUpdate) => ({ filesUpdate }) };
}

function checkOptions(options: StateBackendOptions): void {
  checkNames("StateBackend", options, ["fileFormat"], "It takes nothing, or a runtime with 'state'.");
  if (options.fileFormat != null && !["v1", "v2"].includes(options.fileFormat))
    throw new ConfigurationError("INVALID_OPTION", "The option 'fileFormat' must be 'v1' or 'v2'.");
}
