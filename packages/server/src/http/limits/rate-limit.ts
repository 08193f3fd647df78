/** How often one caller may ask, in this process. */
import { Problem } from "../problems.ts";

export interface Rate {
  /** At once, after a pause. */
  readonly burst: number;
  /** In the long run. */
  readonly perSecond: number;
}

interface Bucket {
  left: number;
  at: number;
}

/** Callers that are remembered; beyond it the one who asked longest ago is forgotten. */
const MOST_CALLERS = 10_000;

export class RateLimit {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly rate: Rate,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Throws 429 with the seconds after which it is worth asking again. */
  take(caller: string, count = 1): void {
    const seconds = this.secondsUntil(caller, count);
    if (seconds > 0) throw tooMany(seconds);
  }

  /** 0: it is let in, and counts. Else after how many seconds it is worth asking again. */
  secondsUntil(caller: string, count = 1): number {
    const { burst, perSecond } = this.rate;
    const now = this.now();
    const bucket = this.buckets.get(caller) ?? { left: burst, at: now };
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    this.remember(caller, bucket);
    // More than fits at once is let in when the bucket is full, and paid for afterwards.
    const needed = Math.min(count, burst);
    if (bucket.left < needed) return (needed - bucket.left) / perSecond;
    bucket.left -= count;
    return 0;
  }

  private remember(caller: string, bucket: Bucket): void {
    this.buckets.delete(caller);
    this.buckets.set(caller, bucket);
    if (this.buckets.size > MOST_CALLERS) this.buckets.delete(this.buckets.keys().next().value as string);
  }
}

/**
 * The bucket for attempts with a secret, by its keyed hash: one of 4096. Without the key nobody can choose which secrets
 * share a bucket, so wrong ones do not keep the right one out.
 */
export const attemptsWith = (hash: string): string => hash.slice(0, 2);

function tooMany(seconds: number): Problem {
  return new Problem("RATE_LIMITED", "Too many requests; try again later.", {
    headers: { "retry-after": String(Math.max(1, Math.ceil(seconds))) },
  });
}
