/** Limits of one caller. */

import type { BodyLimits } from "../read-json.ts";
import type { CostlyLimits } from "./costly-requests.ts";
import type { HeldLimits } from "./held-bytes.ts";
import type { Rate } from "./rate-limit.ts";

export interface Limits extends BodyLimits {
  /** Bytes after which a page of a listing ends. It has one item at least. */
  readonly pageBytes: number;
  /** Bytes an answer may have. Streams and files are not limited. */
  readonly answerBytes: number;
  /** Bytes that requests hold in memory. */
  readonly held: HeldLimits;
  /** Requests of one caller that read or write much. */
  readonly costly: CostlyLimits;
  /** Requests of one caller. */
  readonly requests: Rate;
  /** Runs one caller may start. */
  readonly runs: Rate;
  /** Crons one caller may have. */
  readonly crons: number;
  /** Seconds between two dates of a cron, at least. */
  readonly cronSeconds: number;
  /** Streams one caller may hold open. */
  readonly streams: number;
  /** Milliseconds until an answer, or a stream, must have begun. */
  readonly answerMs: number;
  /** Milliseconds the database has to answer `/ready`. */
  readonly readyMs: number;
}

export const LIMITS: Limits = {
  bodyBytes: 16 * 1024 * 1024,
  jsonDepth: 100,
  jsonValues: 200_000,
  pageBytes: 16 * 1024 * 1024,
  answerBytes: 32 * 1024 * 1024,
  held: { caller: 64 * 1024 * 1024, process: 192 * 1024 * 1024 },
  costly: { atOnce: 2, waiting: 100 },
  requests: { burst: 2_000, perSecond: 500 },
  runs: { burst: 200, perSecond: 10 },
  crons: 100,
  cronSeconds: 60,
  streams: 2_000,
  answerMs: 30_000,
  readyMs: 3_000,
};
