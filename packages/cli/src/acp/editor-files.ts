/**
 * The files of the directory as the editor has them: the text of an open buffer counts before the one on disk. Changes
 * go to the disk, where undo knows them, and then to the buffer.
 */
import { join } from "node:path";
import {
  type BackendProtocol,
  type BackendRuntime,
  type EditResult,
  type FileError,
  MapBackend,
  type ReadResult,
  type WriteResult,
} from "deepwright";
import { withMembers } from "deepwright/internal";
import type { Editor } from "./editor.ts";
import type { EditorTurns } from "./editor-turns.ts";

/** Longer files are read from the disk alone. */
const MOST_LETTERS = 2_000_000;

export interface Buffers {
  readonly editor: Editor;
  readonly sessionId: string;
  readonly directory: string;
  readonly turns: EditorTurns;
  /** Nothing is asked before the editor knows the session. */
  isOpen(): boolean;
}

type Bindable = BackendProtocol & { withRuntime?(runtime: BackendRuntime): unknown };

export function withBuffers(disk: BackendProtocol, buffers: Buffers): BackendProtocol {
  const own = {
    read: async (...given: Parameters<BackendProtocol["read"]>): Promise<ReadResult> => {
      const found = await disk.read(...given);
      if (found.error !== undefined || typeof found.content !== "string") return found;
      const [path, offset, limit] = given;
      const unsaved = await unsavedText(disk, buffers, path);
      return unsaved === undefined ? found : new MapBackend({ [path]: unsaved }).read(path, offset, limit);
    },
    ...(disk.readRaw && { readRaw: rawReader(disk, disk.readRaw.bind(disk), buffers) }),
    edit: async (...given: Parameters<BackendProtocol["edit"]>): Promise<EditResult> => {
      const refused = await saved(disk, buffers, given[0]);
      return refused ?? shown(disk, buffers, given[0], await disk.edit(...given));
    },
    write: async (...given: Parameters<BackendProtocol["write"]>): Promise<WriteResult> => {
      const refused = given[2]?.overwrite ? await saved(disk, buffers, given[0]) : undefined;
      return refused ?? shown(disk, buffers, given[0], await disk.write(...given));
    },
    withRuntime: async (runtime: BackendRuntime) => {
      const inner = (disk as Bindable).withRuntime?.(runtime) ?? disk;
      return withBuffers((await inner) as BackendProtocol, buffers);
    },
  };
  return withMembers(disk, own) as BackendProtocol;
}

function rawReader(
  disk: BackendProtocol,
  readRaw: NonNullable<BackendProtocol["readRaw"]>,
  buffers: Buffers,
): NonNullable<BackendProtocol["readRaw"]> {
  return async (path, options) => {
    const found = await readRaw(path, options);
    if (found.error !== undefined) return found;
    const unsaved = await unsavedText(disk, buffers, path);
    return unsaved === undefined ? found : new MapBackend({ [path]: unsaved }).readRaw(path);
  };
}

/** The text of a buffer that is not as the file on disk; undefined: there is none. */
async function unsavedText(
  disk: BackendProtocol,
  { editor, sessionId, directory, turns, isOpen }: Buffers,
  path: string,
): Promise<string | undefined> {
  if (!isOpen() || !editor.readsFiles) return undefined;
  const onDisk = await diskText(disk, path);
  if (onDisk === undefined || onDisk.length > MOST_LETTERS) return undefined;
  const text = await turns.request(() => editor.textOf(sessionId, join(directory, path)));
  return text === undefined || isSame(text, onDisk) ? undefined : text;
}

/** Some editors leave the last line break out. */
function isSame(one: string, other: string): boolean {
  const trimmed = (text: string): string => text.replaceAll("\r\n", "\n").replace(/\n$/, "");
  return trimmed(one) === trimmed(other);
}

/** Undefined: it is no text, not there, or may not be read. */
async function diskText(disk: BackendProtocol, path: string): Promise<string | undefined> {
  const [file] = (await disk.downloadFiles?.([path])) ?? [];
  const content = file?.content;
  if (content === null || content === undefined) return undefined;
  if (typeof content === "string") return content;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
  return text.includes("\0") || text.includes("\uFFFD") ? undefined : text;
}

/** Saves a buffer before its file is changed, so that nothing the person typed is lost. */
async function saved(disk: BackendProtocol, buffers: Buffers, path: string): Promise<FileError | undefined> {
  const unsaved = await unsavedText(disk, buffers, path);
  if (unsaved === undefined) return undefined;
  if (!buffers.editor.writesFiles) return { error: UNSAVED(path), code: "PERMISSION_DENIED" };
  const { error } = await disk.write(path, unsaved, { overwrite: true });
  return error === undefined ? undefined : { error, code: "PERMISSION_DENIED" };
}

const UNSAVED = (path: string): string =>
  `Error: ${path} has changes in the editor that are not saved. Ask the person to save the file, then try again.`;

/** The buffer shows the change; the disk has it already, so that an editor that refuses loses nothing. */
async function shown<Result extends { readonly error?: string | undefined }>(
  disk: BackendProtocol,
  { editor, sessionId, directory, turns, isOpen }: Buffers,
  path: string,
  result: Result,
): Promise<Result> {
  if (result.error !== undefined || !isOpen() || !editor.writesFiles) return result;
  const text = await diskText(disk, path);
  if (text !== undefined)
    await turns
      .request(() => editor.writeText(sessionId, join(directory, path), text))
      .catch(() => undefined);
  return result;
}
