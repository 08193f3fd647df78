import type { GrepResult } from "../backend.ts";

/**
 * Cuts a finished search down to `maxCount` matches and notes that; for backends without a limit of their own. Without
 * a number, or with no more matches than that, the same result is returned.
 */
export function applyGrepMaxCount<Result extends GrepResult | LooseGrepResult>(params: {
  readonly result: Result;
  readonly maxCount: number | null | undefined;
}): Result {
  const { result, maxCount } = params;
  if (maxCount === null || maxCount === undefined) return result;
  if (result.matches === undefined || result.matches.length <= maxCount) return result;
  return { ...result, matches: result.matches.slice(0, maxCount), truncated: true };
}

/** As backends written for other harnesses give it: every field may be missing. */
interface LooseGrepResult {
  readonly error?: string;
  readonly matches?: GrepResult["matches"];
  readonly truncated?: boolean;
}
