/** The few things a place must be able to do so that `backendFromPrimitives` can make a backend of it. */
import type { FileError, FileInfo, OperationOptions } from "../backend.ts";

export interface FetchedFile {
  readonly bytes: Uint8Array;
  /** Changes whenever the bytes do: an entity tag, a row version, or the text itself. */
  readonly version: string;
  /** ISO 8601. */
  readonly created_at?: string;
  /** ISO 8601. */
  readonly modified_at?: string;
}

export interface ListOptions extends OperationOptions {
  /**
   * Only the direct entries of the directory are needed: deeper files may be left out, and each directory be one entry
   * with `is_dir`. Returning everything is correct too, only slower.
   */
  readonly shallow?: boolean;
}

export interface PutOptions extends OperationOptions {
  /** Puts only if there is no file. */
  readonly ifAbsent?: boolean;
  /** Puts only if the file still has this version. */
  readonly ifVersion?: string;
}

type Awaitable<Value> = Value | Promise<Value>;

/**
 * Paths are canonical. Broken infrastructure is thrown. `put` may return a refusal, such as a name that is too long, as
 * `{ error, code }`.
 */
export interface FilePrimitives {
  /** Every file whose path begins with `prefix`, in any order. `prefix` ends with a slash. */
  list(prefix: string, options: ListOptions): Awaitable<Iterable<FileInfo> | AsyncIterable<FileInfo>>;
  /** Undefined if there is no file. */
  get(path: string, options: OperationOptions): Awaitable<FetchedFile | undefined>;
  /**
   * Stores the bytes in one piece: a reader sees all of them or none. False, and nothing changed, if the
   * condition does not hold; a place that cannot check and put in one step loses edits of two processes.
   */
  put(path: string, bytes: Uint8Array, options: PutOptions): Awaitable<boolean | FileError>;
  /** A missing file is no failure. Absent: files cannot be deleted. */
  remove?(path: string, options: OperationOptions): Awaitable<unknown>;
}
