/** Places (`checkpoint_ns`) of tasks in which something is under way that whoever listens to callbacks must not count again. */
export class Places {
  readonly #counts = new Map<string, number>();

  has(place: string): boolean {
    return this.#counts.has(place);
  }

  async during<T>(place: string, body: () => Promise<T>): Promise<T> {
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
    try {
      return await body();
    } finally {
      const left = (this.#counts.get(place) ?? 1) - 1;
      if (left > 0) this.#counts.set(place, left);
      else this.#counts.delete(place);
    }
  }
}
