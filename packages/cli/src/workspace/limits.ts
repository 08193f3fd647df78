/** How much of a directory is copied into a thread. */
export interface WorkspaceLimits {
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes of all files. */
  readonly totalBytes: number;
  readonly files: number;
  /** Directory entries looked at before giving up on the rest. */
  readonly entries: number;
}

export const WORKSPACE_LIMITS: WorkspaceLimits = {
  fileBytes: 512 * 1024,
  totalBytes: 20 * 1024 * 1024,
  files: 5_000,
  entries: 100_000,
};
