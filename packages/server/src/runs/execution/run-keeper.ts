/** Renews the claim on a run while it works, and passes on requests of clients. */
import { after } from "deepwright/duration";
import type { RunClaim, ServerRecords } from "../../records/records.ts";

export interface RunKeeperOptions {
  readonly records: Pick<ServerRecords, "runs">;
  readonly claim: RunClaim;
  readonly ttlMs: number;
  /** Milliseconds between looks for requests of clients. */
  readonly pollMs: number;
  /** Another worker has the run, or that is unknown: the work must stop at once. */
  readonly onLost: () => void;
  readonly onCancel: (action: "interrupt" | "rollback") => void;
  /** Time to look for mail. */
  readonly onLook: () => Promise<void>;
}

/** Returns how to stop it. */
export function keepRun(options: RunKeeperOptions): () => void {
  const { records, claim, ttlMs, pollMs } = options;
  let kept = performance.now();
  let stopped = false;
  let stopTimer = (): void => {};

  const keep = async (): Promise<void> => {
    const asked = performance.now();
    if (asked - kept < ttlMs / 3) return;
    if ((await records.runs.keepClaim(claim, ttlMs)) === undefined) return stop(options.onLost);
    kept = asked;
  };
  const listen = async (): Promise<void> => {
    const run = await records.runs.get(claim.run.owner, claim.run.run_id);
    if (stopped) return;
    if (run === undefined) options.onCancel("interrupt");
    else if (run.cancel !== undefined) options.onCancel(run.cancel);
    await options.onLook();
  };
  const tick = async (): Promise<void> => {
    try {
      await keep();
      if (!stopped) await listen();
    } catch {
      // The database does not answer: after the time of the claim its holder is unknown.
      if (performance.now() - kept > ttlMs) stop(options.onLost);
    }
    if (!stopped) stopTimer = after(pollMs, tick);
  };
  const stop = (then?: () => void): void => {
    if (stopped) return;
    stopped = true;
    stopTimer();
    then?.();
  };
  stopTimer = after(pollMs, tick);
  return () => stop();
}
