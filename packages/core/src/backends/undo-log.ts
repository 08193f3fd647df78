/** Where a backend leaves what a file was before a step changed it, so that the step can be taken back. */
import { checkpointerOf, isTaskConfig, type TaskConfig } from "../engine/engine.ts";
import { decodeText } from "../text/mime.ts";
import type { BackendRuntime } from "./backend.ts";

type Content = string | Uint8Array | undefined;

/** The author of a change. */
export interface ImageAuthor {
  /**
   * `call`: a tool call, also where this is absent. `outside`: a person or another program. `restore`: a person who took
   * back a part. `rewind`: a person who took the thread back.
   */
  readonly kind?: "outside" | "restore" | "rewind";
  /** The id of the tool call. */
  readonly call?: string;
  /** The name of the subagent; absent: the agent itself. */
  readonly agent?: string;
  /** The task of the outermost agent: the same for all that one subagent does. */
  readonly task?: string;
}

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
  readonly author: ImageAuthor;
  readonly checkpointId: string;
  /** Called before the change is made; a change that cannot be noted is not made. */
  record(entry: UndoEntry): Promise<void>;
  /** Absent where the saver keeps no snapshots. */
  readonly saver?: SnapshotSaver;
  readonly config: TaskConfig;
}

/** Interface of a saver that keeps such entries with its threads. */
export interface UndoSaver {
  /** `config` is that of the task: it names the thread and carries the claim on it. */
  recordImage(
    config: object,
    image: {
      readonly checkpointId: string;
      readonly place: string;
      readonly path: string;
      readonly before: unknown;
      readonly after: unknown;
      readonly by?: ImageAuthor;
    },
  ): Promise<void>;
}

/** Interface of a saver that also gives them back. */
export interface SnapshotSaver extends UndoSaver {
  imagesOf(threadId: string): Promise<readonly StoredImageRow[]>;
}

export interface StoredImageRow {
  readonly checkpointId: string;
  readonly place: string;
  readonly path: string;
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by?: ImageAuthor;
  before(): Promise<unknown>;
  after(): Promise<unknown>;
}

/** The log of the step that `runtime` belongs to; undefined outside a run, or where the saver keeps none. */
export function undoLogOf(runtime: BackendRuntime): UndoLog | undefined {
  const { config } = runtime;
  if (!isTaskConfig(config)) return undefined;
  const saver = checkpointerOf(config) as Partial<SnapshotSaver> | undefined;
  const checkpointId = rootCheckpoint(config);
  if (typeof saver?.recordImage !== "function" || !checkpointId) return undefined;
  const { recordImage } = saver;
  const author = authorOf(runtime, config);
  return {
    author,
    checkpointId,
    config,
    ...(typeof saver.imagesOf === "function" && { saver: saver as SnapshotSaver }),
    record: ({ place, path, before, after }) => {
      const image = {
        place,
        path,
        before: readable(before),
        after: readable(after),
        checkpointId,
        by: author,
      };
      return recordImage.call(saver, config, image);
    },
  };
}

const NAMESPACE_SEPARATOR = "|";

function authorOf({ toolCallId }: BackendRuntime, { configurable, metadata }: TaskConfig): ImageAuthor {
  const namespace = String(configurable?.checkpoint_ns ?? "");
  const isSubagent = namespace.includes(NAMESPACE_SEPARATOR);
  const agent: unknown = metadata?.lc_agent_name;
  return {
    ...(toolCallId && { call: toolCallId }),
    ...(isSubagent && typeof agent === "string" && { agent }),
    ...(isSubagent && { task: namespace.split(NAMESPACE_SEPARATOR)[0]?.split(":")[1] ?? "" }),
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
