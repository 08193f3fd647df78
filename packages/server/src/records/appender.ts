/** Appends of one process, stored together: many runs speak at once, and a transaction costs more than its rows. */
import { randomUUID } from "node:crypto";
import type { NewEvent } from "./records.ts";
import type { Append } from "./tables/events.ts";

type Store = (appends: readonly Append[]) => Promise<readonly (number | undefined)[]>;

interface Waiting {
  readonly events: readonly NewEvent[];
  resolve(last: number | undefined): void;
  reject(error: unknown): void;
}

interface Line {
  readonly runId: string;
  readonly fence: number;
  readonly waiting: Waiting[];
}

/** Runs one transaction at a time; events that come meanwhile go into the next one. */
export class Appender {
  readonly #store: Store;
  #lines = new Map<string, Line>();
  /** The last append under way, by run. */
  readonly #last = new Map<string, Promise<unknown>>();
  #running: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  append(runId: string, fence: number, events: readonly NewEvent[]): Promise<number | undefined> {
    const stored = new Promise<number | undefined>((resolve, reject) => {
      const name = `${runId} ${fence}`;
      const line = this.#lines.get(name) ?? { runId, fence, waiting: [] };
      this.#lines.set(name, line);
      line.waiting.push({ events, resolve, reject });
      this.#running ??= this.#run();
    });
    const over = stored.then(ignore, ignore).then(() => {
      if (this.#last.get(runId) === over) this.#last.delete(runId);
    });
    this.#last.set(runId, over);
    return stored;
  }

  /** Resolves when all events appended to this run so far are stored or refused. */
  async settled(runId: string): Promise<void> {
    await this.#last.get(runId);
  }

  /** When nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Starts after this turn of the event loop, so that events of one turn are stored together. */
  async #run(): Promise<void> {
    await new Promise((done) => setImmediate(done));
    while (this.#lines.size > 0) {
      const lines = [...this.#lines.values()].sort((a, b) => (a.runId < b.runId ? -1 : 1));
      this.#lines = new Map();
      await this.#storeLines(lines);
    }
    this.#running = undefined;
  }

  async #storeLines(lines: readonly Line[]): Promise<void> {
    try {
      const appends = lines.map(({ runId, fence, waiting }) => ({
        runId,
        fence,
        batch: randomUUID(),
        events: waiting.flatMap(({ events }) => events),
      }));
      const lasts = await this.#store(appends);
      lines.forEach((line, index) => {
        answer(line, lasts[index]);
      });
    } catch (error) {
      for (const { waiting } of lines) for (const one of waiting) one.reject(error);
    }
  }
}

/** Each caller gets the number of its last event. */
function answer({ waiting }: Line, last: number | undefined): void {
  let after = (last ?? 0) - waiting.reduce((total, { events }) => total + events.length, 0);
  for (const { events, resolve } of waiting) {
    after += events.length;
    resolve(last === undefined ? undefined : after);
  }
}

function ignore(): void {}
