import { canonicalPath } from "../paths.ts";
import type { FileError, OperationOptions } from "./backend.ts";

/**
 * Runs `act` with the canonical spelling of `path`, or returns why there is none. Throws when `options.signal` is aborted.
 * Tools pass canonical paths; programs that call a backend themselves may not.
 */
export async function atPath<Result>(
  path: string,
  options: OperationOptions | undefined,
  act: (target: string) => Promise<Result>,
): Promise<Result | FileError> {
  options?.signal?.throwIfAborted();
  const canonical = canonicalPath(path);
  return canonical.error !== undefined ? canonical : act(canonical.path);
}
