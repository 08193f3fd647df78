/** The runs this process is at work on: at most one of a thread. */
import type { RunRecord } from "../../records/records.ts";
import type { RunEnd } from "./run-end.ts";

export interface ActiveRun {
  readonly run: RunRecord;
  /** Never rejects but for storage that fails. */
  readonly ended: Promise<RunEnd>;
  cancel(action: "interrupt" | "rollback"): void;
  /** Mail has come: no need to wait for the next look. */
  look(): void;
  /** Stops at the next step, so that another worker can go on. */
  drain(): void;
  /** Stops now; the next worker repeats the unfinished step. */
  leave(): void;
}

export class ActiveRuns {
  readonly #byThread = new Map<string, ActiveRun>();

  get size(): number {
    return this.#byThread.size;
  }

  all(): readonly ActiveRun[] {
    return [...this.#byThread.values()];
  }

  run(runId: string): ActiveRun | undefined {
    return this.all().find(({ run }) => run.run_id === runId);
  }

  onThread(threadId: string): ActiveRun | undefined {
    return this.#byThread.get(threadId);
  }

  add(active: ActiveRun): void {
    this.#byThread.set(active.run.thread_id, active);
  }

  remove({ run }: ActiveRun): void {
    this.#byThread.delete(run.thread_id);
  }
}
