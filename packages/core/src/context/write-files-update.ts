/** Changes of files that a backend of the older form does not store itself. */
import type { FilesUpdate } from "../backends/backend.ts";
import type { StageTask } from "../loop/contract/stages.ts";

const updates = new WeakMap<StageTask, FilesUpdate>();

/**
 * The updates reach the state together with the task's other writes. Updates of several stages of one task are
 * combined.
 */
export function writeFilesUpdate(task: StageTask, update: FilesUpdate | null | undefined): void {
  if (!update) return;
  const all = { ...updates.get(task), ...update };
  updates.set(task, all);
  task.write("files", all);
}
