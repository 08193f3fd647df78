/** Threads in this process's memory: for tests, for programs that end with their threads. */
import { DeepwrightError } from "deepwright/errors";
import { MemoryObjects } from "./memory-objects.ts";
import { pruneThreads } from "./memory-prune.ts";
import { type MemoryThread, newThread, rootsOf, type Space } from "./memory-thread.ts";
import { encodeRefs } from "./refs.ts";
import type {
  CheckpointRow,
  ClaimAnswer,
  FactChanges,
  ImageRow,
  NewRows,
  PruneQuery,
  PruneResult,
  PutBatch,
  PutResult,
  RowQuery,
  StorageCounts,
  StoredObject,
  ThreadFacts,
  ThreadQuery,
  ThreadStorage,
  TupleRows,
  WriteEntry,
  WritesRow,
} from "./storage.ts";
import { tooLarge } from "./too-large.ts";

export class MemoryStorage implements ThreadStorage {
  private readonly threads = new Map<string, MemoryThread>();
  private readonly objects = new MemoryObjects();
  private rowsWritten = 0;

  async put(batch: PutBatch): Promise<PutResult> {
    const thread = this.writable(batch.threadId, batch.fence, batch.now);
    if (batch.epoch !== thread.epoch && !this.hasAll(thread, batch))
      return { stale: true, epoch: thread.epoch };
    const ids = this.objects.add(thread, batch.objects);
    const number = (ref: number): number => (ref < 0 ? (ids[-ref - 1] as number) : ref);
    for (const rows of rowsOf(batch)) {
      if (rows.checkpoint) this.putCheckpoint(thread, batch, rows, rows.checkpoint, number);
      if (rows.writes) this.putWrites(thread, rows.namespace, rows.writes, number);
      if (rows.image) this.putImage(thread, batch, rows.image, number);
      this.rowsWritten += rowBytes(rows);
    }
    if (batch.facts) setFacts(thread, batch.facts);
    thread.updatedAt = batch.now;
    this.rowsWritten += factBytes(batch.facts);
    return { stale: false, ids, epoch: thread.epoch };
  }

  async readTuple(
    threadId: string,
    namespace: string,
    checkpointId: string | undefined,
  ): Promise<TupleRows | undefined> {
    const space = this.threads.get(threadId)?.spaces.get(namespace);
    const id = checkpointId ?? newestId(space);
    const checkpoint = id === undefined ? undefined : space?.checkpoints.get(id)?.row;
    return checkpoint && { checkpoint, writes: writesOf(space, checkpoint.id) };
  }

  async listRows(query: RowQuery): Promise<readonly TupleRows[]> {
    const { threadId, namespace, limit } = query;
    const found: TupleRows[] = [];
    const threads = threadId === undefined ? [...this.threads.keys()].sort() : [threadId];
    for (const thread of threads)
      for (const [name, space] of sorted(this.threads.get(thread)?.spaces))
        if (namespace === undefined || name === namespace)
          for (const { row } of newestFirst(space)) {
            if (!matches(row, query)) continue;
            found.push({ checkpoint: row, writes: writesOf(space, row.id) });
            if (found.length === limit) return found;
          }
    return found;
  }

  async loadObjects(
    ids: readonly number[],
    known: readonly number[] = [],
    mostBytes = Number.POSITIVE_INFINITY,
  ): Promise<readonly StoredObject[]> {
    const objects = this.objects.closure(ids, new Set(known));
    if (objects.reduce((sum, { body }) => sum + body.length, 0) > mostBytes) throw tooLarge(mostBytes);
    return objects;
  }

  async epochOf(threadId: string): Promise<number> {
    return this.threads.get(threadId)?.epoch ?? 0;
  }

  async deleteThread(threadId: string, fence?: number): Promise<void> {
    if (!this.threads.has(threadId)) return;
    const thread = this.writable(threadId, fence, Date.now());
    this.objects.keepOnly(thread, new Set());
    this.threads.delete(threadId);
  }

  async copyThread(from: string, to: string, now: number): Promise<void> {
    const source = this.existing(from);
    const target = this.threads.get(to);
    if (target?.spaces.has(""))
      throw new DeepwrightError("THREAD_EXISTS", `There is a thread '${to}' already.`);
    this.writable(to, undefined, now);
    const copy = newThread(now);
    const { title, firstPrompt, messageCount, checkpointCount, model, cwd } = source;
    Object.assign(copy, { title, firstPrompt, messageCount, checkpointCount, model, cwd });
    for (const [namespace, space] of source.spaces) copy.spaces.set(namespace, copySpace(space, to));
    copy.images.push(...source.images);
    this.objects.share(copy, rootsOf(copy));
    this.threads.set(to, copy);
  }

  async prune(query: PruneQuery): Promise<PruneResult> {
    const threads =
      query.threadId === undefined
        ? [...this.threads.values()]
        : [this.threads.get(query.threadId)].filter((thread) => thread !== undefined);
    const before = this.objects.total();
    const checkpoints = pruneThreads(threads, this.objects, query);
    const after = this.objects.total();
    return { checkpoints, objects: before.count - after.count, bytes: before.bytes - after.bytes };
  }

  async listThreads({ limit, after, cwd }: ThreadQuery): Promise<readonly ThreadFacts[]> {
    const all = [...this.threads]
      .filter(([, thread]) => thread.checkpointCount > 0 && (cwd === undefined || thread.cwd === cwd))
      .map(([threadId, thread]) => factsOf(threadId, thread))
      .sort(byNewest);
    return all.filter((facts) => !after || byNewest(after, facts) < 0).slice(0, limit);
  }

  async thread(threadId: string): Promise<ThreadFacts | undefined> {
    const thread = this.threads.get(threadId);
    return thread && thread.checkpointCount > 0 ? factsOf(threadId, thread) : undefined;
  }

  async setFacts(threadId: string, facts: FactChanges): Promise<void> {
    const thread = this.existing(threadId);
    setFacts(thread, facts);
  }

  async listImages(threadId: string): Promise<readonly ImageRow[]> {
    return [...(this.threads.get(threadId)?.images ?? [])];
  }

  async claim(threadId: string, holder: string, ttlMs: number, fence?: number): Promise<ClaimAnswer> {
    const thread = this.named(threadId, Date.now());
    const now = performance.now();
    const remainingMs = thread.claimExpires - now;
    const isFree = fence === undefined && (thread.claimHolder === undefined || remainingMs <= 0);
    const isOwn = fence !== undefined && fence === thread.fence && thread.claimHolder !== undefined;
    if (!isFree && !isOwn)
      return { held: false, holder: thread.claimHolder ?? "", remainingMs: Math.max(0, remainingMs) };
    if (isFree) thread.fence += 1;
    thread.claimHolder = holder;
    thread.claimExpires = now + ttlMs;
    return { held: true, fence: thread.fence };
  }

  async release(threadId: string, fence: number): Promise<void> {
    const thread = this.threads.get(threadId);
    if (thread?.fence === fence) thread.claimHolder = undefined;
  }

  async counts(): Promise<StorageCounts> {
    return { bytesWritten: this.rowsWritten + this.objects.bytesAdded };
  }

  async size(): Promise<number> {
    return this.objects.total().bytes;
  }

  /** Unused content is gone already. */
  async erase(): Promise<void> {}

  async close(): Promise<void> {}

  private named(threadId: string, now: number): MemoryThread {
    const thread = this.threads.get(threadId) ?? newThread(now);
    this.threads.set(threadId, thread);
    return thread;
  }

  private existing(threadId: string): MemoryThread {
    const thread = this.threads.get(threadId);
    if (!thread || thread.checkpointCount === 0)
      throw new DeepwrightError("THREAD_NOT_FOUND", `There is no thread '${threadId}'.`);
    return thread;
  }

  private writable(threadId: string, fence: number | undefined, now: number): MemoryThread {
    const thread = this.named(threadId, now);
    if (fence !== undefined && fence !== thread.fence)
      throw new DeepwrightError("CLAIM_LOST", `Another run has taken over the thread '${threadId}'.`);
    if (fence === undefined && thread.claimHolder !== undefined && thread.claimExpires > performance.now())
      throw new DeepwrightError("THREAD_BUSY", `Another run is writing to the thread '${threadId}'.`);
    return thread;
  }

  private hasAll(thread: MemoryThread, batch: PutBatch): boolean {
    const used = [
      ...batch.objects.flatMap(({ refs }) => refs),
      ...rowsOf(batch).flatMap(({ checkpoint, writes, image }) => [
        ...(checkpoint?.refs ?? []),
        ...(writes?.entries.flatMap(({ refs }) => refs) ?? []),
        ...[image?.before, image?.after].filter((ref) => ref !== undefined),
      ]),
    ];
    return used.every((ref) => ref < 0 || this.objects.isUsedBy(thread, ref));
  }

  private putCheckpoint(
    thread: MemoryThread,
    { threadId, now }: PutBatch,
    { namespace }: NewRows,
    checkpoint: Omit<CheckpointRow, "threadId" | "namespace">,
    number: (ref: number) => number,
  ): void {
    const { checkpoints } = spaceOf(thread, namespace);
    if (!checkpoints.has(checkpoint.id)) thread.checkpointCount += 1;
    const row = { ...checkpoint, threadId, namespace, refs: checkpoint.refs.map(number) };
    checkpoints.set(checkpoint.id, { row, storedAt: now });
  }

  private putWrites(
    thread: MemoryThread,
    namespace: string,
    { checkpointId, taskId, entries }: WritesRow & { checkpointId: string },
    number: (ref: number) => number,
  ): void {
    const { writes } = spaceOf(thread, namespace);
    const tasks = writes.get(checkpointId) ?? new Map<string, Map<number, WriteEntry>>();
    writes.set(checkpointId, tasks);
    const kept = tasks.get(taskId) ?? new Map<number, WriteEntry>();
    tasks.set(taskId, kept);
    for (const entry of entries)
      if (entry.index < 0 || !kept.has(entry.index))
        kept.set(entry.index, { ...entry, refs: entry.refs.map(number) });
  }

  private putImage(
    thread: MemoryThread,
    { now }: PutBatch,
    image: NonNullable<PutBatch["image"]>,
    number: (ref: number) => number,
  ): void {
    const side = (ref: number | undefined): number | undefined =>
      ref === undefined ? undefined : number(ref);
    const row = { ...image, before: side(image.before), after: side(image.after) };
    thread.images.push({ ...row, sequence: (thread.images.at(-1)?.sequence ?? 0) + 1, at: now });
  }
}

function rowsOf(batch: PutBatch): readonly NewRows[] {
  return batch.more ? [batch, ...batch.more] : [batch];
}

function spaceOf(thread: MemoryThread, namespace: string): Space {
  const space = thread.spaces.get(namespace) ?? { checkpoints: new Map(), writes: new Map() };
  thread.spaces.set(namespace, space);
  return space;
}

function copySpace(space: Space, threadId: string): Space {
  return {
    checkpoints: new Map(
      [...space.checkpoints].map(([id, { row, storedAt }]) => [id, { row: { ...row, threadId }, storedAt }]),
    ),
    writes: new Map(
      [...space.writes].map(([id, tasks]) => [
        id,
        new Map([...tasks].map(([task, entries]) => [task, new Map(entries)])),
      ]),
    ),
  };
}

function newestId(space: Space | undefined): string | undefined {
  let newest: string | undefined;
  for (const id of space?.checkpoints.keys() ?? []) if (newest === undefined || id > newest) newest = id;
  return newest;
}

function newestFirst(space: Space): { readonly row: CheckpointRow }[] {
  return [...space.checkpoints.values()].sort((left, right) => (left.row.id < right.row.id ? 1 : -1));
}

function sorted(spaces: ReadonlyMap<string, Space> | undefined): [string, Space][] {
  return [...(spaces ?? [])].sort(([left], [right]) => (left < right ? -1 : 1));
}

function matches(row: CheckpointRow, { checkpointId, before, after }: RowQuery): boolean {
  if (checkpointId !== undefined && row.id !== checkpointId) return false;
  if (before !== undefined && row.id >= before) return false;
  if (!after) return true;
  if (row.threadId !== after.threadId) return row.threadId > after.threadId;
  if (row.namespace !== after.namespace) return row.namespace > after.namespace;
  return row.id < after.id;
}

function writesOf(space: Space | undefined, checkpointId: string): WritesRow[] {
  return [...(space?.writes.get(checkpointId) ?? [])].map(([taskId, entries]) => ({
    taskId,
    entries: [...entries.values()].sort((left, right) => left.index - right.index),
  }));
}

function setFacts(thread: MemoryThread, { firstPrompt, ...facts }: FactChanges): void {
  thread.firstPrompt ??= firstPrompt;
  for (const [key, value] of Object.entries(facts))
    if (value !== undefined) Object.assign(thread, { [key]: value });
}

function factsOf(threadId: string, thread: MemoryThread): ThreadFacts {
  const { title, firstPrompt, messageCount, checkpointCount, model, cwd, createdAt, updatedAt } = thread;
  return {
    threadId,
    title,
    firstPrompt,
    messageCount,
    checkpointCount,
    model,
    cwd,
    createdAt,
    updatedAt,
  };
}

type Listed = Pick<ThreadFacts, "updatedAt" | "threadId">;

function byNewest(left: Listed, right: Listed): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  return left.threadId < right.threadId ? -1 : left.threadId > right.threadId ? 1 : 0;
}

const NUMBER_BYTES = 8;

/** As a database would count it. */
function rowBytes({ checkpoint, writes }: NewRows): number {
  let bytes = 0;
  if (checkpoint) {
    const { id, parent, body, refs } = checkpoint;
    bytes += NUMBER_BYTES + id.length + (parent?.length ?? 0) + body.length + encodeRefs(refs).length;
  }
  for (const { channel, body, refs } of writes?.entries ?? [])
    bytes += channel.length + body.length + encodeRefs(refs).length;
  if (writes) bytes += NUMBER_BYTES + writes.checkpointId.length + writes.taskId.length;
  return bytes;
}

function factBytes(facts: FactChanges = {}): number {
  let bytes = 2 * NUMBER_BYTES;
  for (const value of Object.values(facts)) bytes += typeof value === "string" ? value.length : NUMBER_BYTES;
  return bytes;
}
