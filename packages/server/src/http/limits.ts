/** What one caller may use of the server. */
import type { Rate } from "./rate-limit.ts";
import type { BodyLimits } from "./read-json.ts";

export interface Limits extends BodyLimits {
  /** Requests of one caller. */
  readonly requests: Rate;
  /** Runs one caller may start. */
  readonly runs: Rate;
  /** Streams one caller may hold open. */
  readonly streams: number;
}

export const LIMITS: Limits = {
  bodyBytes: 16 * 1024 * 1024,
  jsonDepth: 100,
  jsonValues: 200_000,
  requests: { burst: 2_000, perSecond: 500 },
  runs: { burst: 200, perSecond: 10 },
  streams: 2_000,
};
