/** Doing things one after another where two at once would spoil each other's work. */

/** Work on the same key waits for the work before it; work on different keys does not. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** A failure reaches its own caller only. */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
