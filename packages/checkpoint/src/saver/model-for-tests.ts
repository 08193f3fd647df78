/** A saver that keeps descriptions of everything it was given: too simple to be wrong. */
import type { Checkpoint, CheckpointMetadata, PendingWrite } from "@langchain/langgraph-checkpoint";
import { describeSorted, describeValue, type TupleDescription } from "./describe-for-tests.ts";

interface Kept {
  readonly parent: string | undefined;
  readonly root: string | undefined;
  readonly checkpoint: string;
  readonly metadata: string;
  readonly source: string;
}

interface Space {
  readonly checkpoints: Map<string, Kept>;
  /** By checkpoint, then task, then place. */
  readonly writes: Map<string, Map<string, Map<number, string>>>;
}

export interface ListQuery {
  readonly thread?: string | undefined;
  readonly namespace?: string | undefined;
  readonly before?: string | undefined;
  readonly source?: string | undefined;
  readonly limit?: number | undefined;
}

const SPECIAL: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

export class NaiveSaver {
  private threads = new Map<string, Map<string, Space>>();

  put(
    thread: string,
    namespace: string,
    parent: string | undefined,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): void {
    this.space(thread, namespace).checkpoints.set(checkpoint.id, {
      parent,
      root: namespace === "" ? undefined : metadata.parents[""],
      checkpoint: describeSorted(checkpoint),
      metadata: describeSorted(metadata),
      source: metadata.source,
    });
  }

  putWrites(
    thread: string,
    namespace: string,
    id: string,
    task: string,
    writes: readonly PendingWrite[],
  ): void {
    const space = this.space(thread, namespace);
    const tasks = space.writes.get(id) ?? new Map<string, Map<number, string>>();
    space.writes.set(id, tasks);
    const kept = tasks.get(task) ?? new Map<number, string>();
    tasks.set(task, kept);
    for (const [place, [channel, value]] of writes.entries()) {
      const index = SPECIAL[channel] ?? place;
      if (index < 0 || !kept.has(index)) kept.set(index, describeValue([task, channel, value]));
    }
  }

  deleteThread(thread: string): void {
    this.threads.delete(thread);
  }

  copyThread(from: string, to: string): void {
    const copy = new Map<string, Space>();
    for (const [namespace, { checkpoints, writes }] of this.threads.get(from) ?? [])
      copy.set(namespace, {
        checkpoints: new Map(checkpoints),
        writes: new Map(
          [...writes].map(([id, tasks]) => [
            id,
            new Map([...tasks].map(([task, kept]) => [task, new Map(kept)])),
          ]),
        ),
      });
    this.threads.set(to, copy);
  }

  /**
   * Keeps so many of the newest checkpoints. A child's go with the root checkpoint they belong to, except
   * for the newest of a namespace that belongs to no task; what belongs to no root is counted for itself.
   */
  prune(thread: string | undefined, keep: number): void {
    for (const [name, spaces] of this.threads) {
      if (thread !== undefined && name !== thread) continue;
      const roots = spaces.get("")?.checkpoints ?? new Map<string, Kept>();
      for (const [namespace, space] of [...spaces].sort(byName)) {
        const ids = newestFirst(space);
        const rootOf = (id: string) => space.checkpoints.get(id)?.root;
        const alone = namespace === "" || roots.size === 0 || ids.some((id) => rootOf(id) === undefined);
        const orphans = ids.filter((id) => !roots.has(rootOf(id) ?? ""));
        const lasting = namespace.includes(":") ? undefined : ids[0];
        const going = alone ? ids.slice(keep) : orphans.filter((id) => id !== lasting);
        for (const id of going) remove(space, id);
      }
    }
  }

  has(thread: string): boolean {
    return [...(this.threads.get(thread)?.values() ?? [])].some(({ checkpoints }) => checkpoints.size > 0);
  }

  names(): string[] {
    return [...this.threads.keys()].filter((thread) => this.has(thread));
  }

  ids(thread: string, namespace: string): string[] {
    const space = this.threads.get(thread)?.get(namespace);
    return space ? newestFirst(space) : [];
  }

  tuple(thread: string, namespace: string, id?: string): TupleDescription | undefined {
    const space = this.threads.get(thread)?.get(namespace);
    const wanted = id ?? (space && newestFirst(space)[0]);
    const kept = wanted === undefined ? undefined : space?.checkpoints.get(wanted);
    if (!kept || !space || wanted === undefined) return undefined;
    const place = (checkpoint_id: string) => ({ thread_id: thread, checkpoint_ns: namespace, checkpoint_id });
    return {
      config: describeSorted(place(wanted)),
      parent: describeSorted(kept.parent === undefined ? undefined : place(kept.parent)),
      metadata: kept.metadata,
      checkpoint: kept.checkpoint,
      writes: [...(space.writes.get(wanted)?.values() ?? [])].flatMap((task) =>
        [...task].sort(([left], [right]) => left - right).map(([, write]) => write),
      ),
    };
  }

  list({ thread, namespace, before, source, limit }: ListQuery): TupleDescription[] {
    const found: TupleDescription[] = [];
    for (const name of thread === undefined ? [...this.threads.keys()].sort() : [thread])
      for (const [ns, space] of [...(this.threads.get(name) ?? [])].sort(byName))
        for (const id of newestFirst(space)) {
          if (namespace !== undefined && namespace !== ns) continue;
          if (before !== undefined && id >= before) continue;
          if (source !== undefined && space.checkpoints.get(id)?.source !== source) continue;
          found.push(this.tuple(name, ns, id) as TupleDescription);
        }
    return found.slice(0, limit);
  }

  private space(thread: string, namespace: string): Space {
    const spaces = this.threads.get(thread) ?? new Map<string, Space>();
    this.threads.set(thread, spaces);
    const space = spaces.get(namespace) ?? { checkpoints: new Map(), writes: new Map() };
    spaces.set(namespace, space);
    return space;
  }
}

function newestFirst({ checkpoints }: Space): string[] {
  return [...checkpoints.keys()].sort().reverse();
}

function byName([left]: [string, Space], [right]: [string, Space]): number {
  return left < right ? -1 : 1;
}

function remove(space: Space, id: string): void {
  space.checkpoints.delete(id);
  space.writes.delete(id);
}
