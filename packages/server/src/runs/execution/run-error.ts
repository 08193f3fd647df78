/** Kinds of failures of runs. */

/** Storage does not answer. */
export function isOutage(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "STORAGE_UNAVAILABLE" || code === "STORAGE_BUSY";
}

/** The interrupt that the run answers was answered before. */
export function isStaleAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "NOTHING_TO_RESUME" || code === "INVALID_RESUME";
}
