/** Comments come back where the model wrote the text back that it was shown. */
import type { BackendProtocol, FilesUpdate, OperationOptions } from "../backends/backend.ts";
import { repairsOf } from "./comments.ts";
import type { ReadFile } from "./memory-file.ts";

export interface Guarded {
  readonly file: ReadFile;
  /** Changes that the caller has to store, of backends that cannot. */
  readonly filesUpdate?: FilesUpdate;
}

/**
 * Puts the comments back in place of their stand-ins. Each is one edit of exact text, so changes by others stay. If an
 * edit fails, the file stays as it is, and the comment counts as lost.
 */
export async function restoreComments(
  backend: BackendProtocol,
  file: ReadFile,
  known: readonly string[],
  options: OperationOptions,
): Promise<Guarded> {
  if (file.text === undefined || known.length === 0) return { file };
  let { text } = file;
  let filesUpdate: FilesUpdate | undefined;
  for (const { standIn, comment } of repairsOf(text, known)) {
    const result = await backend.edit(file.path, standIn, comment, true, options);
    if (result.error !== undefined) continue;
    text = text.replaceAll(standIn, () => comment);
    if (result.filesUpdate) filesUpdate = { ...filesUpdate, ...result.filesUpdate };
  }
  return { file: text === file.text ? file : { ...file, text }, ...(filesUpdate && { filesUpdate }) };
}
