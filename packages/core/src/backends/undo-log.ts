/** Where a backend leaves what a file was before a step changed it, so that the step can be taken back. */
import { checkpointerOf, isTaskConfig, type TaskConfig } from "../engine/engine.ts";
import { decodeText } from "../text/mime.ts";
import type { BackendRuntime } from "./backend.ts";

type Content = string | Uint8Array | undefined;

export interface UndoEntry {
  /** The tree of files that the path is in, e.g. `disk:/home/me/project`. */
  readonly place: string;
  readonly path: string;
  /** `undefined` if there was no file. */
  readonly before: Content;
  /** `undefined` if there is none any more. */
  readonly after: Content;
}

export interface UndoLog {
  /** Called before the change is made; a change that cannot be noted is not made. */
  record(entry: UndoEntry): Promise<void>;
}

/** Interface of a saver that keeps such entries with its threads. */
export interface UndoSaver {
  /** `config` is that of the task: it names the thread and carries the claim on it. */
  recordImage(config: TaskConfig, image: UndoEntry & { readonly checkpointId: string }): Promise<void>;
}

/** The log of the step that `runtime` belongs to; undefined outside a run, or where the saver keeps none. */
export function undoLogOf(runtime: BackendRuntime): UndoLog | undefined {
  const { config } = runtime;
  if (!isTaskConfig(config)) return undefined;
  const saver = checkpointerOf(config) as Partial<UndoSaver> | undefined;
  const checkpointId = rootCheckpoint(config);
  if (typeof saver?.recordImage !== "function" || !checkpointId) return undefined;
  const { recordImage } = saver;
  return {
    record: ({ place, path, before, after }) => {
      const image = { place, path, before: readable(before), after: readable(after), checkpointId };
      return recordImage.call(saver, config, image);
    },
  };
}

/** Text is kept as text, so that people can be shown what changed. */
function readable(content: Content): Content {
  return content instanceof Uint8Array ? (decodeText(content) ?? content) : content;
}

/** The checkpoint the step of the outermost graph began with: a child's changes belong to the parent's step. */
function rootCheckpoint({ configurable, executionInfo }: TaskConfig): string | undefined {
  const outermost = (configurable?.checkpoint_map as Record<string, string> | undefined)?.[""];
  return outermost ?? executionInfo?.checkpointId;
}
