/**
 * Keeps the files of a thread still while a command runs that was approved with its files.
 *
 * Calls that change files or run other commands go on side by side; one that is bound to the content of files
 * runs alone. The lock is one per thread, so that it holds for the agent and the subagents inside its runs.
 */

type Release = () => void;

interface Waiting {
  readonly isAlone: boolean;
  readonly start: () => void;
}

class WorkspaceLock {
  #holders = 0;
  #isAlone = false;
  readonly #queue: Waiting[] = [];

  get isFree(): boolean {
    return this.#holders === 0 && this.#queue.length === 0;
  }

  /** In the order of asking, so that nobody waits for ever. */
  async take(isAlone: boolean, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        isAlone,
        start: () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
      };
      const stop = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal?.reason);
        this.#next();
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  leave(): void {
    this.#holders -= 1;
    this.#isAlone = false;
    this.#next();
  }

  #next(): void {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      if (this.#isAlone || (first.isAlone && this.#holders > 0)) return;
      this.#queue.shift();
      this.#holders += 1;
      this.#isAlone = first.isAlone;
      first.start();
    }
  }
}

const locks = new Map<string, WorkspaceLock>();

/** Without a thread nothing can be approved, and nobody waits. The result is to be called once, at the end. */
export async function lockWorkspace(
  thread: string | undefined,
  isAlone: boolean,
  signal: AbortSignal | undefined,
): Promise<Release> {
  if (thread === undefined) return () => {};
  const lock = locks.get(thread) ?? new WorkspaceLock();
  locks.set(thread, lock);
  const forget = (): void => {
    if (lock.isFree && locks.get(thread) === lock) locks.delete(thread);
  };
  try {
    await lock.take(isAlone, signal);
  } catch (error) {
    forget();
    throw error;
  }
  return () => {
    lock.leave();
    forget();
  };
}
