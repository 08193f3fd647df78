/** Watchers of runs in this process. */
import { after } from "deepwright/duration";

/** Asks for the marks of runs; runs that do not exist are left out. */
export type Marks = (runIds: readonly string[]) => Promise<readonly { runId: string; mark: string }[]>;

/** Runs asked about in one query. */
const ASKED_TOGETHER = 500;

interface Watched {
  readonly callbacks: Set<() => void>;
  mark: string | undefined;
}

/**
 * News of this process arrive at once. News of other processes arrive by notification, and at the latest with the next
 * look at the database, so a lost notification only delays them.
 */
export class Watchers {
  readonly #watched = new Map<string, Watched>();
  readonly #marks: Marks;
  readonly #everyMs: number;
  #stopTimer: (() => void) | undefined;
  #closed = false;

  constructor(marks: Marks, everyMs: number) {
    this.#marks = marks;
    this.#everyMs = everyMs;
  }

  watch(runId: string, changed: () => void): () => void {
    const watched = this.#watched.get(runId) ?? { callbacks: new Set(), mark: undefined };
    this.#watched.set(runId, watched);
    const call = () => changed();
    watched.callbacks.add(call);
    this.#schedule();
    return () => {
      watched.callbacks.delete(call);
      if (watched.callbacks.size === 0 && this.#watched.get(runId) === watched) this.#watched.delete(runId);
    };
  }

  tell(runId: string): void {
    for (const call of [...(this.#watched.get(runId)?.callbacks ?? [])]) call();
  }

  /** After news may have been missed. */
  tellAll(): void {
    for (const runId of [...this.#watched.keys()]) this.tell(runId);
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    this.#watched.clear();
  }

  #schedule(): void {
    if (this.#stopTimer !== undefined || this.#closed) return;
    this.#stopTimer = after(this.#everyMs, () => void this.#look(), { ref: false });
  }

  async #look(): Promise<void> {
    try {
      const ids = [...this.#watched.keys()];
      for (let from = 0; from < ids.length; from += ASKED_TOGETHER) {
        await this.#compare(ids.slice(from, from + ASKED_TOGETHER));
      }
    } catch {
      // The database is away: the next look will tell.
    } finally {
      this.#stopTimer = undefined;
      if (this.#watched.size > 0) this.#schedule();
    }
  }

  /** The first look notifies everyone, because earlier news may have been missed. A run that is gone is news too. */
  async #compare(ids: readonly string[]): Promise<void> {
    const found = new Map((await this.#marks(ids)).map(({ runId, mark }) => [runId, mark]));
    for (const runId of ids) {
      const watched = this.#watched.get(runId);
      const mark = found.get(runId) ?? "gone";
      if (watched === undefined || watched.mark === mark) continue;
      watched.mark = mark;
      this.tell(runId);
    }
  }
}
