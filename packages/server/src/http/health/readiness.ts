/** Whether requests that need the database can be answered now. */
import type { SharedSaver } from "@deepwright/checkpoint";
import { after } from "deepwright/duration";
import type { ServerRecords } from "../../records/records.ts";
import { Problem } from "../problems.ts";

/** Nothing has this name. */
const NOBODY = "";

export interface CheckedStorage {
  readonly records: Pick<ServerRecords, "runs">;
  readonly saver: Pick<SharedSaver, "getTuple">;
}

/** Asks over the connections that requests use, so a pool that is stuck shows. One question at a time, however many ask. */
export class Readiness {
  readonly #storage: CheckedStorage;
  readonly #limitMs: number;
  #asking: Promise<unknown> | undefined;

  constructor(storage: CheckedStorage, limitMs: number) {
    this.#storage = storage;
    this.#limitMs = limitMs;
  }

  /** Rejects with UNAVAILABLE and the reason. */
  async check(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    let stop = (): void => {};
    const late = new Promise<never>((_, reject) => {
      stop = after(this.#limitMs, () =>
        reject(notReady(`The database has not answered within ${this.#limitMs / 1_000} s.`)),
      );
    });
    try {
      await Promise.race([this.#asking, late]);
    } catch (error) {
      if (error instanceof Problem) throw error;
      const { code } = (error ?? {}) as { readonly code?: unknown };
      throw notReady(`The database failed${typeof code === "string" ? `: ${code}` : ""}.`);
    } finally {
      stop();
    }
  }

  async #ask(): Promise<void> {
    const { records, saver } = this.#storage;
    await Promise.all([
      records.runs.get(NOBODY, NOBODY),
      saver.getTuple({ configurable: { thread_id: "deepwright-ready", checkpoint_ns: "" } }),
    ]);
  }
}

function notReady(message: string): Problem {
  return new Problem("UNAVAILABLE", message, { headers: { "retry-after": "1" } });
}
