/** LangGraph's saver over any storage: one implementation of checkpoints and of how they share content. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { DeepwrightError } from "deepwright/errors";
import { Decoder } from "../content/decode.ts";
import { Encoder } from "../content/encode.ts";
import type { ThreadMemory } from "../content/thread-memory.ts";
import type {
  CheckpointRow,
  PruneResult,
  StorageCounts,
  ThreadStorage,
  TupleRows,
} from "../storage/storage.ts";
import type { PruneOptions } from "../threads/threads.ts";
import {
  type ClaimingSaver,
  type ClaimOptions,
  claimOf,
  configOf,
  fenceOf,
  type ThreadClaim,
} from "./claim.ts";
import { claimThread } from "./claim-thread.ts";
import { deltaHistory } from "./delta-history.ts";
import { withSafeErrors } from "./error-words.ts";
import { factChanges } from "./facts.ts";
import { type ImageOf, type StoredImage, storedPlace } from "./file-image.ts";
import { addressOf, checkedId, checkedText, threadAddress } from "./ids.ts";
import { contentHandle, readImages } from "./image-contents.ts";
import { pruneQuery } from "./prune-options.ts";
import { admit, READ_LIMIT_KEY, type ReadLimit, readLimitOf, unlessTooLarge } from "./reading/read-limit.ts";
import { allRefs, isLoaded, pendingWrites } from "./reading/tuple-rows.ts";
import { decodeCheckpoint, decodeMetadata, encodeCheckpoint, headRefs } from "./record.ts";
import { type Draft, ThreadWriter } from "./thread-writer.ts";
import { neverStored, without } from "./unstored.ts";

const PAGE = 50;
/** Bytes of checkpoints that a listing loads together. Beyond it they are loaded one by one. */
const TOGETHER_BYTES = 4 * 1024 * 1024;
/** Bytes after which a listing drops the content that earlier checkpoints share with the next ones. */
const SHARED_BYTES = 16 * 1024 * 1024;
/** Threads whose last state is remembered at a time. */
const MOST_WRITERS = 1_000;

export class SharedSaver extends BaseCheckpointSaver<number> implements ClaimingSaver {
  /** Tells the loop that puts without `await` are stored in the order of the calls. */
  readonly keepsOrder = true;
  private readonly writers = new Map<string, ThreadWriter>();
  /** Threads whose first checkpoint is read before it is written: later writes wait. */
  private readonly looking = new Map<string, Promise<unknown>>();

  constructor(readonly storage: ThreadStorage) {
    super();
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace = "", checkpointId } = addressOf(config);
    if (threadId === undefined) return undefined;
    const limit = readLimitOf(config);
    let previous: string | undefined;
    for (;;) {
      const rows = await this.storage.readTuple(threadId, namespace, checkpointId);
      if (!rows) return undefined;
      const decoder = new Decoder();
      decoder.add(await this.storage.loadObjects(allRefs(rows), [], limit?.mostBytes));
      // The checkpoint was pruned between the two reads; the same result twice means damage.
      if (isLoaded(rows, decoder) || rows.checkpoint.id === previous)
        return this.tuple(rows, decoder, limit, claimOf(config));
      previous = rows.checkpoint.id;
    }
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { threadId, namespace, checkpointId } = addressOf(config);
    const before = addressOf(options.before).checkpointId;
    const hasFilter = Object.keys(options.filter ?? {}).length > 0;
    const readLimit = readLimitOf(config);
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    let after: { threadId: string; namespace: string; id: string } | undefined;
    while (left > 0) {
      const limit = hasFilter ? PAGE : Math.min(PAGE, left);
      const page = await this.storage.listRows({ threadId, namespace, checkpointId, before, after, limit });
      let decoder = new Decoder();
      const wanted = (await this.matching(page, options.filter, decoder)).slice(0, left);
      const together = await unlessTooLarge(this.load(wanted.flatMap(allRefs), decoder, TOGETHER_BYTES));
      for (const rows of wanted) {
        if (decoder.size > SHARED_BYTES) decoder = new Decoder();
        if (!together) await this.load(allRefs(rows), decoder, readLimit?.mostBytes);
        const tuple = await (isLoaded(rows, decoder)
          ? this.tuple(rows, decoder, readLimit)
          : this.readAgain(rows, readLimit));
        if (!tuple) continue;
        left -= 1;
        yield tuple;
      }
      const last = page.at(-1)?.checkpoint;
      if (!last || page.length < limit) return;
      after = { threadId: last.threadId, namespace: last.namespace, id: last.id };
    }
  }

  override async put(
    config: RunnableConfig,
    given: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions?: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { threadId, namespace, checkpointId: parent } = threadAddress(config, "store a checkpoint");
    const id = checkedId("checkpoint_id", given.id);
    const isWhole =
      parent !== undefined ||
      !newVersions ||
      Object.keys(given.channel_versions).every((name) => Object.hasOwn(newVersions, name));
    const ahead = this.looking.get(threadId);
    if (ahead) await ahead;
    const checkpoint = isWhole
      ? given
      : await this.lookInto(
          threadId,
          neverStored(this.storage, threadId, namespace, given, newVersions),
          given,
        );
    const root = namespace === "" ? undefined : rootOf(metadata);
    const draft = (memory: ThreadMemory, writer: ThreadWriter): Draft => {
      const encoder = new Encoder(memory);
      const { refs, body } = encodeCheckpoint(encoder, memory, checkpoint, metadata, namespace);
      const facts = namespace === "" ? factChanges(config, checkpoint, writer.knownFacts) : undefined;
      return {
        facts,
        build: (batch) => ({
          checkpoint: { id, parent, root, refs: refs.map((ref) => batch.ref(ref)), body },
          ...(facts ? { facts } : {}),
        }),
      };
    };
    await this.writer(threadId).write(namespace, fenceOf(config), draft);
    return configOf(threadId, namespace, id, claimOf(config));
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { threadId, namespace, checkpointId } = threadAddress(config, "store writes");
    const id = checkedId("checkpoint_id", checkpointId);
    checkedId("task_id", taskId);
    if (writes.length === 0) return;
    const draft = (memory: ThreadMemory): Draft => {
      const encoder = new Encoder(memory);
      const entries = withSafeErrors(writes).map(([channel, value], place) => ({
        index: Object.hasOwn(WRITES_IDX_MAP, channel) ? (WRITES_IDX_MAP[channel] as number) : place,
        channel,
        encoded: encoder.encode([{ value }]),
      }));
      return {
        build: (batch) => ({
          writes: {
            checkpointId: id,
            taskId,
            entries: entries.map(({ index, channel, encoded: { json, refs } }) => ({
              index,
              channel,
              body: JSON.stringify(json[0]),
              refs: refs.map((ref) => batch.ref(ref)),
            })),
          },
        }),
      };
    };
    await this.writer(threadId).write(namespace, fenceOf(config), draft);
  }

  /** Stores a file outside the state before and after a step. It goes with the thread, and by `prune`. */
  async recordImage(config: RunnableConfig, image: ImageOf<unknown>): Promise<void> {
    const { threadId } = threadAddress(config, "store a before-image");
    const checkpointId = checkedId("checkpoint_id", image.checkpointId);
    // Checked here: the database would refuse everything that is stored together with it.
    const place = storedPlace(checkedText("place", image.place), image.by);
    const path = checkedText("path", image.path);
    const draft = (memory: ThreadMemory): Draft => {
      const encoder = new Encoder(memory);
      const before = contentHandle(encoder, image.before);
      const after = contentHandle(encoder, image.after);
      return {
        build: (batch) => ({
          image: {
            checkpointId,
            place,
            path,
            before: before && batch.ref(before),
            after: after && batch.ref(after),
          },
        }),
      };
    };
    await this.writer(threadId).write("", fenceOf(config), draft);
  }

  /** The images of a thread in the order they were recorded. Contents are read when asked for. */
  async imagesOf(threadId: string): Promise<StoredImage[]> {
    await this.writers.get(threadId)?.idle();
    return readImages(this.storage, checkedId("thread_id", threadId));
  }

  /**
   * Deletes its writes, its before-images and the data of its children too. Other threads keep shared content. Throws
   * THREAD_BUSY under the claim of another; the own claim ends with the thread, and CLAIM_LOST is thrown if another
   * holder has claimed the thread since.
   */
  override async deleteThread(
    threadId: string,
    claim?: Pick<ThreadClaim, "threadId" | "fence">,
  ): Promise<void> {
    checkedId("thread_id", threadId);
    await this.writers.get(threadId)?.idle();
    this.writers.delete(threadId);
    await this.storage.deleteThread(threadId, claim?.threadId === threadId ? claim.fence : undefined);
  }

  /** A thread under another name: nothing is copied but references. */
  async copyThread(from: string, to: string): Promise<void> {
    checkedId("thread_id", from);
    checkedId("thread_id", to);
    await this.writers.get(from)?.idle();
    await this.storage.copyThread(from, to, Date.now());
  }

  /** Removes old checkpoints and returns their space. The newest state of every thread stays as it is. */
  async prune(options: PruneOptions): Promise<PruneResult> {
    const query = pruneQuery(options, Date.now());
    if (!options.erase) return this.storage.prune(query);
    if (!this.storage.erase)
      throw new DeepwrightError("NOT_SUPPORTED", "This database is not erased from here.", {
        hint: "Use its own tools, such as VACUUM FULL.",
      });
    const result = await this.storage.prune(query);
    await this.storage.erase();
    return result;
  }

  async claimThread(threadId: string, options: ClaimOptions): Promise<ThreadClaim> {
    return claimThread(this.storage, checkedId("thread_id", threadId), options);
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return deltaHistory(this, options);
  }

  /** Bytes bound in inserts and updates since opening. */
  async counts(): Promise<StorageCounts> {
    return this.storage.counts();
  }

  /** Bytes on disk, or of content in memory. */
  async size(): Promise<number> {
    return this.storage.size();
  }

  /** Waits for open writes. Calling it twice is safe. */
  async close(): Promise<void> {
    await Promise.all([...this.writers.values()].map((writer) => writer.idle()));
    await this.storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** For content beside checkpoints, such as files as they were before a run changed them. */
  writer(threadId: string): ThreadWriter {
    const known = this.writers.get(threadId);
    if (known) this.writers.delete(threadId);
    const writer = known ?? new ThreadWriter(this.storage, threadId);
    this.writers.set(threadId, writer);
    if (this.writers.size > MOST_WRITERS) this.forgetOldest();
    return writer;
  }

  /** Callers that wait for it continue right after the first caller. */
  private lookInto(
    threadId: string,
    absent: Promise<ReadonlySet<string>>,
    given: Checkpoint,
  ): Promise<Checkpoint> {
    const looking = absent.then((channels) => without(given, channels));
    const done = () => this.looking.delete(threadId);
    this.looking.set(threadId, looking);
    looking.then(done, done);
    return looking;
  }

  private forgetOldest(): void {
    for (const [threadId, writer] of this.writers)
      if (writer.isIdle()) {
        this.writers.delete(threadId);
        return;
      }
  }

  private async matching(
    page: readonly TupleRows[],
    filter: Record<string, unknown> | undefined,
    decoder: Decoder,
  ): Promise<readonly TupleRows[]> {
    const wanted = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined);
    if (wanted.length === 0) return page;
    await this.load(
      page.flatMap(({ checkpoint }) => headRefs(checkpoint)),
      decoder,
    );
    return page.filter(({ checkpoint }) => {
      if (!headRefs(checkpoint).every((ref) => decoder.has(ref))) return true;
      const metadata = decodeMetadata(decoder, checkpoint) as Record<string, unknown> | undefined;
      return wanted.every(([key, value]) => {
        const actual = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
        return actual === value || JSON.stringify(actual) === JSON.stringify(value);
      });
    });
  }

  /** Nothing is left of a checkpoint that was pruned after its row was read. */
  private readAgain(
    { checkpoint: { threadId, namespace, id } }: TupleRows,
    limit: ReadLimit | undefined,
  ): Promise<CheckpointTuple | undefined> {
    const { configurable } = configOf(threadId, namespace, id, undefined);
    return this.getTuple({ configurable: { ...configurable, [READ_LIMIT_KEY]: limit } });
  }

  private async load(refs: readonly number[], decoder: Decoder, mostBytes?: number): Promise<void> {
    const missing = refs.filter((ref) => !decoder.has(ref));
    if (missing.length > 0) decoder.add(await this.storage.loadObjects(missing, decoder.ids(), mostBytes));
  }

  private async tuple(
    rows: TupleRows,
    decoder: Decoder,
    limit: ReadLimit | undefined,
    claim?: ThreadClaim,
  ): Promise<CheckpointTuple> {
    admit(limit, () => decoder.bytes(allRefs(rows)));
    const { checkpoint: row, writes } = rows;
    const start = performance.now();
    const { checkpoint, metadata } = decodeCheckpoint(decoder, row);
    if (performance.now() - start > 15) await nextTurn(); // Others wait, and the reader goes on for as long.
    const { threadId, namespace, parent } = row;
    const tuple: CheckpointTuple = {
      config: configOf(threadId, namespace, row.id, claim),
      checkpoint,
      metadata,
      pendingWrites: pendingWrites(writes, decoder),
    };
    if (parent !== undefined) {
      tuple.parentConfig = configOf(threadId, namespace, parent, claim);
      if (checkpoint.v < 4) await this.migrateSends(row, checkpoint);
    }
    return tuple;
  }

  /** Before version 4 of the format, sends to nodes were in the writes of the parent. */
  private async migrateSends(
    { threadId, namespace, parent }: CheckpointRow,
    checkpoint: Checkpoint,
  ): Promise<void> {
    const rows = await this.storage.readTuple(threadId, namespace, parent);
    const decoder = new Decoder();
    const writes = rows?.writes ?? [];
    decoder.add(
      await this.storage.loadObjects(writes.flatMap(({ entries }) => entries.flatMap(({ refs }) => refs))),
    );
    const sends = pendingWrites(writes, decoder).filter(([, channel]) => channel === TASKS);
    checkpoint.channel_values[TASKS] = sends.map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

function rootOf(metadata: CheckpointMetadata | undefined): string | undefined {
  const root = (metadata?.parents as Record<string, unknown> | undefined)?.[""];
  return typeof root === "string" ? root : undefined;
}
