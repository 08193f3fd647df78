/** A file outside the state as it was before and after a step. */

/** `undefined`: there is no file. */
export type FileContent = string | Uint8Array | undefined;

export interface FileImage {
  /** The checkpoint the step began with: the one a tool finds in its config. */
  readonly checkpointId: string;
  /** Tree of files that contains the path, e.g. a root directory. */
  readonly place: string;
  readonly path: string;
  /** `undefined` if there was no file. */
  readonly before: FileContent;
  /** `undefined` if there is none any more. */
  readonly after: FileContent;
}
