/** Changes that a write, edit, delete or upload would make in a map of files: decided here, stored elsewhere. */
import { parentPath } from "../../paths.ts";
import { replaceText } from "../../text/edit.ts";
import { decodeText, mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
import { writtenBytes } from "../../text/written-bytes.ts";
import type { AnyFileData, FileData, FileError } from "../backend.ts";
import {
  currentShape,
  type FileMap,
  isDirectory,
  isText,
  mimeTypeOf,
  missing,
  ownBytes,
  storedContent,
} from "./file-map.ts";
import { filesAt } from "./file-map-search.ts";

/** The files to put (or, with null, to remove), or why nothing is to be done. */
export type Change =
  | { readonly update: Record<string, FileData | null>; readonly error?: undefined }
  | FileError;

/**
 * `now` is ISO 8601. A file keeps the time it was created when it is replaced. Base64 under the name of a picture, or of
 * another file that cannot be text, becomes bytes.
 */
export function planWrite(
  files: FileMap,
  path: string,
  content: string,
  now: string,
  overwrite = false,
): Change {
  const existing = files.get(path);
  if (existing !== undefined && !overwrite)
    return {
      error: `Cannot write to ${path} because it already exists. Read and then make an edit, or write to a new path.`,
      code: "FILE_EXISTS",
    };
  const bytes = writtenBytes(path, content);
  return bytes === undefined ? planText(files, path, content, now) : planUpload(files, path, bytes, now);
}

function planText(files: FileMap, path: string, content: string, now: string): Change {
  const existing = files.get(path);
  const blocked = existing === undefined ? whyNotAFile(files, path) : undefined;
  if (blocked !== undefined) return blocked;
  const created_at = existing?.created_at ?? now;
  return put(path, { content, mimeType: mimeTypeOfText(path), created_at, modified_at: now });
}

/** Creates the file where there is none. */
export function planAppend(files: FileMap, path: string, content: string, now: string): Change {
  const existing = files.get(path);
  if (existing === undefined) return planText(files, path, content, now);
  if (!isText(existing)) return notText(path, mimeTypeOf(existing));
  return put(path, withContent(existing, path, storedContent(existing) + content, now));
}

export function planEdit(
  files: FileMap,
  path: string,
  oldString: string,
  newString: string,
  replaceAll: boolean,
  now: string,
): (Change & { readonly error?: undefined; readonly occurrences: number }) | FileError {
  const existing = files.get(path);
  if (existing === undefined) return missing(files, path);
  if (!isText(existing)) return notText(path, mimeTypeOf(existing));
  const edited = replaceText(storedContent(existing), oldString, newString, replaceAll);
  if (edited.error !== undefined) return edited;
  const data = withContent(existing, path, edited.text, now);
  return { update: { [path]: data }, occurrences: edited.occurrences };
}

/** A directory goes with all that lies in it; the root cannot be deleted. */
export function planDelete(files: FileMap, path: string): Change {
  if (path === "/") return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
  const doomed = filesAt(files, path);
  if (doomed.length === 0) return missing(files, path);
  return { update: Object.fromEntries(doomed.map((file) => [file, null])) };
}

/** Stores UTF-8 text as text, all other bytes as bytes. Replaces an existing file. */
export function planUpload(files: FileMap, path: string, bytes: Uint8Array, now: string): Change {
  const existing = files.get(path);
  const blocked = existing === undefined ? whyNotAFile(files, path) : undefined;
  if (blocked !== undefined) return blocked;
  const text = decodeText(bytes);
  return put(path, {
    content: text ?? ownBytes(bytes),
    mimeType: mimeTypeOfBytes(path, bytes, text !== undefined),
    created_at: existing?.created_at ?? now,
    modified_at: now,
  });
}

/** Files from callers may lack fields that ours always have. */
function withContent(existing: AnyFileData, path: string, content: string, now: string): FileData {
  const { mimeType = mimeTypeOfText(path), created_at = now, ...rest } = currentShape(existing);
  return { ...rest, content, mimeType, created_at, modified_at: now };
}

function put(path: string, data: FileData): Change {
  return { update: { [path]: data } };
}

/** Nothing is both a file and a directory, on this backend as on a disk. */
function whyNotAFile(files: FileMap, path: string): FileError | undefined {
  if (isDirectory(files, path))
    return { error: `Cannot write to ${path} because it is a directory`, code: "IS_DIRECTORY" };
  for (let parent = parentPath(path); parent !== "/"; parent = parentPath(parent))
    if (files.get(parent) !== undefined)
      return { error: `Cannot write to ${path} because ${parent} is a file`, code: "NOT_A_DIRECTORY" };
  return undefined;
}

function notText(path: string, mimeType: string | undefined): FileError {
  return { error: `'${path}' is not a text file (${mimeType ?? "unknown type"})`, code: "NOT_TEXT" };
}
