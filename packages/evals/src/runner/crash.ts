/** A process that dies in the middle of a trial: nothing that it still does is stored. */
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph";

/** Fulfilled at the moment of the crash. The dead side waits for ever at `die()`. */
export class Life {
  readonly crashed: Promise<void>;
  isDead = false;
  private end!: () => void;

  constructor() {
    this.crashed = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  /** Never returns, like a call in a process that was killed. */
  die(): Promise<never> {
    this.isDead = true;
    this.end();
    return new Promise(() => {});
  }
}

/** Storage that outlives crashes. */
export function newStorage(): BaseCheckpointSaver {
  return new MemorySaver();
}

/** A handle of one life: writes after the crash are dropped. */
export function saverOf(storage: BaseCheckpointSaver, life: Life): BaseCheckpointSaver {
  return new Proxy(storage, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (!WRITES.has(key)) return value.bind(target);
      return (...args: unknown[]) => (life.isDead ? new Promise(() => {}) : value.apply(target, args));
    },
  });
}

const WRITES: ReadonlySet<string | symbol> = new Set(["put", "putWrites", "deleteThread"]);
