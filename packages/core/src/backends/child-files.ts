/**
 * An ability some backends have beyond the protocol: the files of one name in the directories of a directory,
 * in one go. It is there for speed; callers work without it too.
 */
import type { CHILD_FILES } from "../internal-symbols.ts";
import type { FileError, OperationOptions } from "./backend.ts";

export interface ChildFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Files with the same stamp have the same content, in all backends of this process. */
  readonly stamp: string;
  /** Its beginning, read as UTF-8; absent where the stamp was known. */
  readonly head?: string;
}

export interface ChildFiles {
  /** The file in the directory itself: then no other is searched. */
  readonly own?: ChildFile;
  /** Sorted by path. */
  readonly files: readonly ChildFile[];
  /** Directories that have to be read one by one: links, unusual names, and those that could not be opened. */
  readonly others: readonly string[];
}

export interface ChildFilesRequest extends OperationOptions {
  readonly name: string;
  readonly headBytes: number;
  /** Text after the first occurrence of this string is not needed. */
  readonly headUntil?: string;
  isKnown(stamp: string): boolean;
}

export interface WithChildFiles {
  [CHILD_FILES]?(path: string, request: ChildFilesRequest): Promise<ChildFiles | FileError>;
}
