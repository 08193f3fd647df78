/** Keeps a text that is too long for a conversation in a file. */
import { isGraphBubbleUp } from "@langchain/langgraph";
import type { BackendProtocol, FilesUpdate, WriteResult } from "../backends/backend.ts";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import type { StageTask } from "../loop/stages.ts";
import { type Area, areaPath, asHarness, prepareAreas, safeName } from "./areas.ts";

export type KeptText =
  | { readonly path: string; readonly error?: undefined }
  /** Words for the model. */
  | { readonly error: string; readonly path?: undefined };

export interface TextPlace {
  readonly area: Area;
  /** Of what it is the text; any characters. */
  readonly id: string;
}

const MAX_NAMES = 100;

/**
 * The file has the text and nothing else. One with that content that is there already, from a task that ran before,
 * is taken; one with another content is left alone. Throws only when the run was stopped.
 */
export async function keepText(
  source: BackendSource,
  task: StageTask,
  place: TextPlace,
  text: string,
): Promise<KeptText> {
  task.signal?.throwIfAborted();
  try {
    const backend = await resolveBackend(source, task.runtime);
    await prepareAreas(backend, source, { signal: task.signal });
    return await keepAt(backend, task, place, text);
  } catch (error) {
    if (task.signal?.aborted || (error !== null && isGraphBubbleUp(error))) throw error;
    // Whatever is broken there, the words of a stranger's infrastructure are not for the model.
    return { error: "the files cannot be reached" };
  }
}

async function keepAt(
  backend: BackendProtocol,
  task: StageTask,
  { area, id }: TextPlace,
  text: string,
): Promise<KeptText> {
  const options = asHarness({ signal: task.signal });
  const name = safeName(id);
  for (let number = 1; number <= MAX_NAMES; number++) {
    const path = areaPath(backend, area, number === 1 ? name : `${name}-${number}`);
    const written = await backend.write(path, text, options);
    if (written.error === undefined) {
      handOn(written, task);
      return { path };
    }
    if (written.code !== "FILE_EXISTS") return { error: written.error };
    const { data } = await backend.readRaw(path, options);
    if (data?.content === text) return { path };
  }
  return { error: `there are ${MAX_NAMES} files of that name` };
}

const updates = new WeakMap<StageTask, FilesUpdate>();

/** Backends of the older form store nothing themselves. */
function handOn({ filesUpdate }: WriteResult, task: StageTask): void {
  if (!filesUpdate) return;
  const all = { ...updates.get(task), ...filesUpdate };
  updates.set(task, all);
  task.write("files", all);
}
