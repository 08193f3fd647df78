/** Asks the database how many runs wait: one question at a time, however many ask, and no longer than the limit. */
import { after } from "deepwright/duration";
import type { ServerRecords, WaitingRuns } from "../records/records.ts";

export class WaitingRunsReader {
  readonly #records: Pick<ServerRecords, "runs">;
  readonly #limitMs: number;
  #asking: Promise<WaitingRuns | undefined> | undefined;

  constructor(records: Pick<ServerRecords, "runs">, limitMs: number) {
    this.#records = records;
    this.#limitMs = limitMs;
  }

  /** Undefined: the database failed or did not answer in time. Other metrics are shown then too. */
  async read(): Promise<WaitingRuns | undefined> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    let stop = (): void => {};
    const late = new Promise<undefined>((done) => {
      stop = after(this.#limitMs, () => done(undefined));
    });
    return Promise.race([this.#asking, late]).finally(() => stop());
  }

  async #ask(): Promise<WaitingRuns | undefined> {
    try {
      return await this.#records.runs.waiting();
    } catch {
      return undefined;
    }
  }
}
