/** Task namespaces (`checkpoint_ns`) whose model or tool calls the loop already counts; callback listeners skip them. */
export class ActiveTasks {
  readonly #counts = new Map<string, number>();

  has(namespace: string): boolean {
    return this.#counts.has(namespace);
  }

  async during<T>(namespace: string, body: () => Promise<T>): Promise<T> {
    this.#counts.set(namespace, (this.#counts.get(namespace) ?? 0) + 1);
    try {
      return await body();
    } finally {
      const left = (this.#counts.get(namespace) ?? 1) - 1;
      if (left > 0) this.#counts.set(namespace, left);
      else this.#counts.delete(namespace);
    }
  }
}
