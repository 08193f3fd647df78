/** Long work in slices, so that other work of the process gets its turns. Runs in browsers too. */

const SLICE_MS = 15;

/** The time of one piece of work. */
export class Slices {
  #end = performance.now() + SLICE_MS;

  /** Whether it is time to `rest`. */
  get isDue(): boolean {
    return performance.now() >= this.#end;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#end = performance.now() + SLICE_MS;
  }
}

/** Browsers have no `setImmediate`. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve);
  });
}
