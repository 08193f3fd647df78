/** Why a run does not go on to its end. */
export type Stop = "cancel" | "lost" | "timeout" | "leave";

/** The reason a run's signals fire with. */
export class RunStopped extends Error {
  constructor(readonly why: Stop) {
    super(why === "timeout" ? "The run took too long." : "The run was stopped.");
    this.name = why === "timeout" ? "RunTimeout" : "RunStopped";
  }
}

export interface RunSignals {
  /** The run is not to go on. */
  readonly stop: AbortSignal;
  /** Nor is it this worker's to end (`lost`, `leave`): fires also behind a cancel. */
  readonly gone: AbortSignal;
}
