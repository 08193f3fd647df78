/**
 * The contract of a backend: a place where an agent's files live.
 *
 * Paths are absolute, `/`-separated and already canonical: a backend never sees `..`, `~` or a drive
 * letter. Expected failures (no such file, text not unique) are returned as `{ error, code }`; broken
 * infrastructure (a lost connection) is thrown. A missing optional method means the backend has no
 * such ability.
 */

import type { BaseStore } from "@langchain/langgraph";

/** Why a file operation did not happen. Stable: programs switch on it. */
export type FileErrorCode =
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "IS_DIRECTORY"
  | "NOT_A_DIRECTORY"
  | "INVALID_PATH"
  | "INVALID_PATTERN"
  | "INVALID_ARGUMENT"
  | "STRING_NOT_FOUND"
  | "STRING_NOT_UNIQUE"
  | "NOT_TEXT"
  | "CONFLICT"
  | "PERMISSION_DENIED"
  /** A file that steers other programs: a person has to agree first. */
  | "APPROVAL_REQUIRED"
  /** A link leads out of the root, or the path is not in it. */
  | "OUTSIDE_ROOT"
  /** A pipe, socket or device. */
  | "SPECIAL_FILE"
  | "TOO_LARGE"
  | "STORAGE_FULL"
  | "RATE_LIMITED"
  | "UNAVAILABLE";

export interface FileError {
  readonly error: string;
  /** All our backends set it. Another backend may leave it out; then the code is guessed from the text of the error. */
  readonly code?: FileErrorCode;
}

/** Fields of a success may be asked for without looking at `error` first: then they are undefined. */
type Failed<Fields extends string> = FileError & { readonly [Field in Fields]?: undefined };

/** One file in its stored form. */
export interface FileData {
  /** Text, or bytes for a type that is not text. A string under such a type is base64. */
  readonly content: string | Uint8Array;
  readonly mimeType?: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** ISO 8601. */
  readonly modified_at: string;
}

/** The older shape, one string a line: read everywhere, written with `fileFormat: "v1"`. */
export interface LineFileData {
  readonly content: readonly string[];
  readonly mimeType?: undefined;
  readonly created_at: string;
  readonly modified_at: string;
}

export type AnyFileData = FileData | LineFileData;

export interface FileInfo {
  readonly path: string;
  readonly is_dir?: boolean;
  /** Bytes. */
  readonly size?: number;
  /** ISO 8601. */
  readonly modified_at?: string;
}

export interface GrepMatch {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** A file that could not be read while listing or searching: reported, never dropped. */
export interface SkippedFile {
  readonly path: string;
  readonly code: FileErrorCode;
}

export type LsResult =
  | { readonly files: FileInfo[]; readonly skipped?: SkippedFile[]; readonly error?: undefined }
  | Failed<"files" | "skipped" | "truncated" | "timedOut">;

/** A page of a file. An empty file has content `""`; the reminder about it is the tool's words. */
export type ReadResult =
  | {
      readonly content: string | Uint8Array;
      readonly mimeType?: string;
      /** Known when the end was reached or the file is small. */
      readonly totalLines?: number;
      /** 1-based, of the first and last line in `content`; absent for an empty page. */
      readonly startLine?: number;
      readonly endLine?: number;
      /** The `offset` of the next page; absent on the last one. */
      readonly nextOffset?: number;
      /** Bytes of the whole file; where its lines were not counted. */
      readonly size?: number;
      /** The last line of the page is longer than the part that is shown. */
      readonly truncated?: boolean;
      readonly error?: undefined;
    }
  | Failed<
      "content" | "mimeType" | "totalLines" | "startLine" | "endLine" | "nextOffset" | "size" | "truncated"
    >;

/** The older shape comes only from a backend with `fileFormat: "v1"`. */
export type ReadRawResult = { readonly data: AnyFileData; readonly error?: undefined } | Failed<"data">;

/** The state update an older caller must return itself; absent when the backend stored the change. */
export type FilesUpdate = Record<string, AnyFileData | null>;

interface Changed {
  readonly path: string;
  readonly filesUpdate?: FilesUpdate | null;
  /** Goes to the `metadata` of the ToolMessage; the model does not see it. */
  readonly metadata?: Record<string, unknown>;
  readonly error?: undefined;
}

export type WriteResult = Changed | Failed<"path" | "occurrences" | "filesUpdate" | "metadata">;

export type EditResult =
  | (Changed & { readonly occurrences: number })
  | Failed<"path" | "occurrences" | "filesUpdate" | "metadata">;

export type DeleteResult = Changed | Failed<"path" | "occurrences" | "filesUpdate" | "metadata">;

/** No match is an empty list, not an error. Sorted by path, then line. */
export type GrepResult =
  | {
      readonly matches: GrepMatch[];
      /** There is more: `maxCount` was reached, or the time was up. */
      readonly truncated?: boolean;
      /** With `truncated`: it was the time. */
      readonly timedOut?: boolean;
      readonly skipped?: SkippedFile[];
      readonly error?: undefined;
    }
  | Failed<"matches" | "skipped" | "truncated" | "timedOut">;

/** Sorted by path. */
export type GlobResult =
  | {
      readonly files: FileInfo[];
      readonly truncated?: boolean;
      readonly timedOut?: boolean;
      readonly skipped?: SkippedFile[];
      readonly error?: undefined;
    }
  | Failed<"files" | "skipped" | "truncated" | "timedOut">;

export type TransferErrorCode =
  | "file_not_found"
  | "permission_denied"
  | "is_directory"
  | "invalid_path"
  | "parent_not_found";

export interface FileUploadResponse {
  readonly path: string;
  readonly error: TransferErrorCode | null;
}

export interface FileDownloadResponse {
  readonly path: string;
  readonly content: Uint8Array | null;
  readonly error: TransferErrorCode | null;
}

export interface OperationOptions {
  readonly signal?: AbortSignal;
}

export type MaybePromise<T> = T | Promise<T>;

type Awaitable<T> = MaybePromise<T>;

export interface BackendProtocol {
  /** The directory relative paths lie in, canonical; absent: `/`. */
  readonly workingDirectory?: string;
  /** Names that differ only in case are one file, or may be: a rule about one applies to the other. */
  readonly ignoresCase?: boolean;
  ls(path: string, options?: OperationOptions): Awaitable<LsResult>;
  /** `offset` counts lines from 0, `limit` lines. */
  read(path: string, offset?: number, limit?: number, options?: OperationOptions): Awaitable<ReadResult>;
  /** Absent: the file is downloaded, or read page by page. */
  readRaw?(path: string, options?: OperationOptions): Awaitable<ReadRawResult>;
  /** Creates; of N concurrent creators exactly one succeeds. `overwrite` replaces instead. */
  write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Awaitable<WriteResult>;
  append?(path: string, content: string, options?: OperationOptions): Awaitable<WriteResult>;
  edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Awaitable<EditResult>;
  /** Recursive for directories. */
  delete?(path: string, options?: OperationOptions): Awaitable<DeleteResult>;
  /** `pattern` is literal text. `glob` filters files; `maxCount` caps the matches in all. */
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Awaitable<GrepResult>;
  /** `pattern` is relative to `path`; one without a slash matches at any depth. */
  glob(pattern: string, path?: string, options?: OperationOptions): Awaitable<GlobResult>;
  uploadFiles?(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Awaitable<FileUploadResponse[]>;
  downloadFiles?(paths: readonly string[], options?: OperationOptions): Awaitable<FileDownloadResponse[]>;
  /**
   * The canonical path that `path` leads to when links are followed, so that a rule can judge both names;
   * `path` itself where nothing is there. Absent: there are no links.
   */
  realPath?(path: string, options?: OperationOptions): Awaitable<string | FileError>;
}

export interface ExecuteResponse {
  /** Standard output and standard error of the command, in the order they arrived. */
  readonly output: string;
  /** 124 after a time-out, 128 + n after signal n; null when it is not known. */
  readonly exitCode: number | null;
  /** Whether the middle of the output was left out. */
  readonly truncated: boolean;
  /** The name of the signal that ended it. */
  readonly signal?: string;
}

export interface ExecuteOptions extends OperationOptions {
  /** Seconds. */
  readonly timeout?: number;
  /** Set only by a backend with `closesPaths`. */
  readonly closed?: ClosedPaths;
  /** Called at most twice a second with the end of the output so far. A backend need not call it. */
  readonly onOutput?: (tail: string) => void;
}

/** Files and directories, as file operations name them, that one command cannot use. */
export interface ClosedPaths {
  /** Commands can neither see nor change the content of these paths. */
  readonly hidden: readonly string[];
  /** It cannot change them. */
  readonly readOnly: readonly string[];
}

/** A backend that can also run commands. */
export interface SandboxBackendProtocol extends BackendProtocol {
  /** Empty where it turns out that no command can be run. */
  readonly id: string;
  readRaw(path: string, options?: OperationOptions): Awaitable<ReadRawResult>;
  /** Words for the model about how commands see the files; absent: at the same paths. */
  readonly commandNote?: string;
  /**
   * The sandbox itself keeps commands from what the agent's permissions forbid. Absent: commands can get around
   * permissions, so permissions beside this backend are refused.
   */
  readonly enforcesPermissions?: true;
  /**
   * `execute` can close paths below `workingDirectory` for a command, so that permissions about them hold for commands
   * too. Absent: it ignores `closed`.
   */
  readonly closesPaths?: true;
  execute(command: string, options?: ExecuteOptions): Awaitable<ExecuteResponse>;
}

/** Facts about the run that a backend serves. `config` is the task's LangGraph config. */
export interface BackendRuntime<State = any> {
  readonly state: State;
  readonly store?: BaseStore;
  readonly context?: unknown;
  /** The server that runs the agent, if there is one. */
  readonly serverInfo?: ServerInfo;
  readonly config?: unknown;
  /** The tool call that the backend serves, if it is one. */
  readonly toolCallId?: string;
}

export interface ServerInfo {
  readonly user?: { readonly identity: string };
  readonly assistantId?: string;
  /** Prefix of the namespaces of the run's user, on a server that separates its users. */
  readonly tenant?: string;
}

export type BackendFactory = (runtime: BackendRuntime) => Awaitable<BackendProtocol>;
