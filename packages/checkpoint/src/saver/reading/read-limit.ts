/** The limit on the memory that one reader of checkpoints uses. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { DeepwrightError } from "deepwright/errors";
import { tooLarge } from "../../storage/too-large.ts";

/** The saver reads it from `config.configurable[READ_LIMIT_KEY]`. */
export interface ReadLimit {
  /** Bytes of one checkpoint with its writes. A larger one throws VALUE_TOO_LARGE, and is not built. */
  readonly mostBytes: number;
  /** Called with the size of each checkpoint before it is built; it may throw. */
  admit?(bytes: number): void;
}

export const READ_LIMIT_KEY = "__deepwright_read_limit";

export function readLimitOf({ configurable }: RunnableConfig): ReadLimit | undefined {
  const limit = configurable?.[READ_LIMIT_KEY] as ReadLimit | undefined;
  return typeof limit?.mostBytes === "number" ? limit : undefined;
}

export function admit(limit: ReadLimit | undefined, size: () => number): void {
  if (!limit) return;
  const bytes = size();
  if (bytes > limit.mostBytes) throw tooLarge(limit.mostBytes);
  limit.admit?.(bytes);
}

/** False when it was refused for its size. */
export async function unlessTooLarge(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof DeepwrightError && error.code === "VALUE_TOO_LARGE") return false;
    throw error;
  }
}
