/** Answers come in time, or the client gets an error that says so. */
import type { RouteName } from "@deepwright/protocol";
import { after } from "deepwright/duration";
import { Problem } from "../problems.ts";

/** Routes that wait for runs to end, or do much at once. */
const PATIENT: ReadonlySet<string> = new Set<RouteName>([
  "runs.cancel",
  "runs.delete",
  "threads.delete",
  "threads.prune",
  "assistants.delete",
]);
/** Routes that need no database. */
const SIMPLE: ReadonlySet<string> = new Set<RouteName>(["server.ok", "server.info"]);
/** Answers nobody waits for any more that may be under way. */
const MOST_LATE = 16;

/**
 * Late work is not stopped, for the database may have it already: the client must ask again under the same key. While
 * too much of it is under way nothing is begun, or those who ask again would only make the line longer.
 */
export class TimeLimit {
  readonly #limitMs: number;
  #late = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** A stream counts as answered once it begins. */
  async answer(route: string, begin: () => Promise<unknown>): Promise<unknown> {
    if (PATIENT.has(route)) return begin();
    if (this.#late >= MOST_LATE && !SIMPLE.has(route)) throw overloaded();
    let stop = (): void => {};
    const answer = begin();
    const timeUp = new Promise<never>((_, reject) => {
      stop = after(this.#limitMs, () => {
        this.#await(answer);
        reject(tooLate(this.#limitMs));
      });
    });
    try {
      return await Promise.race([answer, timeUp]);
    } finally {
      stop();
    }
  }

  /** A stream nobody will read gives its place back. */
  #await(answer: Promise<unknown>): void {
    this.#late += 1;
    void answer
      .then((late) => (late instanceof Response ? late.body?.cancel() : undefined))
      .catch(() => {})
      .finally(() => {
        this.#late -= 1;
      });
  }
}

const SOON = { headers: { "retry-after": "1" } };

function tooLate(limitMs: number): Problem {
  return new Problem(
    "UNAVAILABLE",
    `There was no answer within ${limitMs / 1_000} s, and it may still be done: ask again, with the same Idempotency-Key if you sent one.`,
    SOON,
  );
}

function overloaded(): Problem {
  return new Problem("UNAVAILABLE", "The server cannot keep up; nothing was done. Ask again later.", SOON);
}
