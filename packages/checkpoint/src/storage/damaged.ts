/** Errors for damaged data in storage. */
import { DeepwrightError } from "deepwright/errors";

export function damaged(what: string, cause?: unknown): DeepwrightError {
  return new DeepwrightError("STORAGE_CORRUPT", `Stored data is damaged: ${what}.`, {
    hint: "Restore a backup, or delete the thread; other threads are not affected.",
    cause,
  });
}

/** Any failure while reading stored data means that the data is damaged. */
export function readStored<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DeepwrightError) throw error;
    throw damaged(`${what} cannot be read`, error);
  }
}
