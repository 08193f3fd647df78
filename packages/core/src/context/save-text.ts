/** Keeps a text that is too long for a conversation in a file. */

import { isGraphBubbleUp } from "@langchain/langgraph";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import { storedContent } from "../backends/file-map/file-map.ts";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import type { StageTask } from "../loop/contract/stages.ts";
import { textHash } from "../text/text-hash.ts";
import { type Area, areaPath, asHarness, prepareAreas, safeName } from "./areas.ts";
import { writeFilesUpdate } from "./write-files-update.ts";

export type SavedText =
  | { readonly path: string; readonly error?: undefined }
  /** Words for the model. */
  | { readonly error: string; readonly path?: undefined };

export interface TextFile {
  readonly area: Area;
  /** Id of the text's owner; any characters. */
  readonly id: string;
}

/**
 * The file has the text and nothing else. One with that content that is there already, from a task that ran before,
 * is taken; one with another content is left alone. Throws only when the run was stopped.
 */
export async function saveText(
  source: BackendSource,
  task: StageTask,
  place: TextFile,
  text: string,
): Promise<SavedText> {
  task.signal?.throwIfAborted();
  try {
    const backend = await resolveBackend(source, task.runtime);
    await prepareAreas(backend, source, { signal: task.signal });
    return await keepAt(backend, task, place, text);
  } catch (error) {
    if (task.signal?.aborted || (error !== null && isGraphBubbleUp(error))) throw error;
    // Errors of an unknown backend may hold private details, so the model does not get their text.
    return { error: "the files cannot be reached" };
  }
}

async function keepAt(
  backend: BackendProtocol,
  task: StageTask,
  { area, id }: TextFile,
  text: string,
): Promise<SavedText> {
  const options = asHarness({ signal: task.signal });
  const name = safeName(id);
  // Some servers number their calls, the same in every thread: then the content tells them apart.
  for (const nameIt of [() => name, () => `${name}-${textHash(text)}`]) {
    const path = areaPath(backend, area, nameIt());
    const written = await backend.write(path, text, options);
    if (written.error === undefined) {
      writeFilesUpdate(task, written.filesUpdate);
      return { path };
    }
    if (written.code !== "FILE_EXISTS") return { error: written.error };
    const { data } = await readRawFile(backend, path, options);
    if (data !== undefined && storedContent(data) === text) return { path };
  }
  return { error: "there are other files of that name" };
}
