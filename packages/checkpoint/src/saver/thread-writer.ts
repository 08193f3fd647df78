/** Writes of one thread in the order in which they were asked for, as few transactions as that allows. */
import { Batch } from "../content/handle.ts";
import { ThreadMemory } from "../content/thread-memory.ts";
import type { FactChanges, NewRows, ThreadStorage } from "../storage/storage.ts";

/** An encoded write. Its references get their numbers when it is stored. */
export interface Draft {
  readonly facts?: FactChanges | undefined;
  build(batch: Batch): Omit<NewRows, "namespace">;
}

export type MakeDraft = (memory: ThreadMemory, writer: ThreadWriter) => Draft;

interface Waiting {
  readonly namespace: string;
  readonly fence: number | undefined;
  readonly make: MakeDraft;
  /** Made with this memory; made again when that is no longer valid. */
  memory: ThreadMemory;
  draft: Draft;
  resolve(): void;
  reject(reason: unknown): void;
}

/** So many writes are stored even if the event loop never turns, as with a model that answers at once. */
const MOST_WAITING = 16;
/** Items of one transaction, which others must wait for. */
const MOST_TOGETHER = 256;

export class ThreadWriter {
  /** Facts the storage knows. */
  knownFacts: FactChanges = {};
  private memory = new ThreadMemory(0);
  private waiting: Waiting[] = [];
  private flushing: Promise<void> | undefined;
  private begin: () => void = () => {};

  constructor(
    private readonly storage: ThreadStorage,
    private readonly threadId: string,
  ) {}

  /**
   * Encodes at once, so that later changes to the values are not seen. Writes of about the same time, or while the
   * storage is busy, are stored in one transaction.
   */
  write(namespace: string, fence: number | undefined, make: MakeDraft): Promise<void> {
    const { memory } = this;
    const draft = make(memory, this);
    if (draft.facts) this.knownFacts = { ...this.knownFacts, ...draft.facts };
    return new Promise((resolve, reject) => {
      this.waiting.push({ namespace, fence, make, memory, draft, resolve, reject });
      this.flushing ??= this.flush();
      if (this.waiting.length >= MOST_WAITING) this.begin();
    });
  }

  isIdle(): boolean {
    return this.flushing === undefined;
  }

  /** Resolves when everything asked for so far is stored or has failed. */
  async idle(): Promise<void> {
    await this.flushing;
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      if (this.waiting.length < MOST_WAITING) await this.gather();
      const group = this.takeGroup();
      try {
        while (!(await this.send(group)));
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.knownFacts = {};
        for (const { reject } of [...group, ...this.takeBehind(group)]) reject(error);
      }
    }
    this.flushing = undefined;
  }

  /** The engine stores a step's writes and then its checkpoint within one turn of the event loop. */
  private gather(): Promise<void> {
    return new Promise((resolve) => {
      this.begin = resolve;
      setImmediate(resolve);
    });
  }

  /** The first waiting write and the following ones under the same claim. */
  private takeGroup(): Waiting[] {
    const [first] = this.waiting as [Waiting];
    const end = this.waiting.findIndex(({ fence }) => fence !== first.fence);
    return this.waiting.splice(0, Math.min(end < 0 ? this.waiting.length : end, MOST_TOGETHER));
  }

  /**
   * Takes the waiting writes that follow a failed group in the same namespaces and under the same claim. They fail too,
   * because a checkpoint must not be stored without those before it.
   */
  private takeBehind(group: readonly Waiting[]): Waiting[] {
    const namespaces = new Set(group.map(({ namespace }) => namespace));
    const isBehind = ({ namespace, fence }: Waiting): boolean =>
      fence === group[0]?.fence && namespaces.has(namespace);
    const behind = this.waiting.filter(isBehind);
    if (behind.length > 0) this.waiting = this.waiting.filter((item) => !isBehind(item));
    return behind;
  }

  /** False when objects the drafts rely on are gone: they must be encoded again. */
  private async send(group: readonly Waiting[]): Promise<boolean> {
    const { threadId, memory } = this;
    for (const item of group) if (item.memory !== memory) this.makeAgain(item);
    const batch = new Batch();
    const [first, ...more] = group.map(({ namespace, draft }) => ({ namespace, ...draft.build(batch) }));
    const facts = Object.assign({}, ...group.map(({ draft }) => draft.facts)) as FactChanges;
    const result = await this.storage.put({
      ...(first as NewRows),
      threadId,
      epoch: memory.epoch,
      fence: group[0]?.fence,
      now: Date.now(),
      objects: batch.objects,
      ...(more.length > 0 ? { more } : {}),
      ...(Object.keys(facts).length > 0 ? { facts } : {}),
    });
    if (!result.stale) batch.stored(result.ids);
    const isOutdated = result.stale || (memory.epoch !== 0 && result.epoch !== memory.epoch);
    if (isOutdated) this.forget(result.epoch);
    else memory.epoch = result.epoch;
    return !result.stale;
  }

  /** The thread was pruned or deleted, so cached facts are dropped. */
  private forget(epoch: number): void {
    this.memory = new ThreadMemory(epoch);
    this.knownFacts = {};
  }

  private makeAgain(item: Waiting): void {
    item.memory = this.memory;
    item.draft = item.make(this.memory, this);
    if (item.draft.facts) this.knownFacts = { ...this.knownFacts, ...item.draft.facts };
  }
}
