/** Commands of a run: each is noted with the thread, and its changes of the directory are recorded. */
import type { BackendRuntime, ExecuteOptions } from "../backend.ts";
import { type UndoLog, undoLogOf } from "../undo-log.ts";
import { type CommandNote, DirectorySnapshots } from "./snapshots/directory-snapshots.ts";
import { snapshotLogOf } from "./snapshots/snapshot-log.ts";
import { undoTreeName } from "./undo-tree.ts";

const MAX_NOTED_CHARACTERS = 2000;
const DISK = "disk:";

/** The first snapshot of a large directory takes seconds. */
const SHOWN_AFTER_MS = 1_000;
const RECORDING = "Recording the files of the directory first, so that the command can be undone…";

/**
 * Runs a command in `rootDir` with a snapshot of the directory before and after it, so that its changes can be taken
 * back. Outside a run, or where the saver keeps no snapshots, it only runs it. A command that cannot be noted is not
 * run; changes that cannot be recorded afterwards are reported as not covered. `onOutput` gets a sentence where the
 * first snapshot takes long.
 */
export async function recordedCommand<Result>(
  command: string,
  rootDir: string,
  runtime: BackendRuntime,
  run: () => Promise<Result>,
  { onOutput }: Pick<ExecuteOptions, "onOutput"> = {},
): Promise<Result> {
  const log = undoLogOf(runtime);
  if (log === undefined) return run();
  const noted = command.toWellFormed().replaceAll("\0", "").slice(0, MAX_NOTED_CHARACTERS);
  const place = undoTreeName(rootDir);
  if (log.saver === undefined) {
    const image = { path: noted, before: undefined, after: undefined };
    await log.record({ place: place.replace(DISK, "command:"), ...image });
    return run();
  }
  const note: CommandNote = { command: noted, by: log.author, checkpointId: log.checkpointId };
  const threadId = String(log.config.configurable?.thread_id);
  const snapshots = snapshotsOf(log.saver, threadId, place.slice(DISK.length));
  const kept = snapshotLogOf(log.saver, threadId, log.config, log.checkpointId);
  const waiting = setTimeout(() => onOutput?.(RECORDING), SHOWN_AFTER_MS);
  await snapshots.before(kept, note).finally(() => clearTimeout(waiting));
  try {
    return await run();
  } finally {
    await snapshots.after(kept, note).catch(ignored);
  }
}

/** The command has no end in the log then, so its changes are not covered, or are recorded at the next look. */
function ignored(): void {}

/** Directories that are remembered at a time. */
const MOST_REMEMBERED = 16;

const remembered = new WeakMap<object, Map<string, DirectorySnapshots>>();

/** The snapshots of a directory for a thread, shared by all that runs in this process. `root` is a real path. */
export function snapshotsOf(
  saver: NonNullable<UndoLog["saver"]>,
  threadId: string,
  root: string,
): DirectorySnapshots {
  const known = remembered.get(saver) ?? new Map<string, DirectorySnapshots>();
  remembered.set(saver, known);
  const key = JSON.stringify([threadId, root]);
  const found = known.get(key) ?? new DirectorySnapshots(root);
  known.delete(key);
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
  return found;
}
