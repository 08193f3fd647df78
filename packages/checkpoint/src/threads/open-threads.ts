/** Opens the operations of a person on the threads of a saver. */
import { DeepwrightError } from "deepwright/errors";
import { checkedId } from "../saver/ids.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import type { ThreadFacts } from "../storage/storage.ts";
import { cursorOf, placeAfter } from "./cursor.ts";
import { exportThread } from "./export-thread.ts";
import { importThread } from "./import-thread.ts";
import { threadNotFound } from "./lineage.ts";
import { stepsOf } from "./steps.ts";
import type {
  BisectOptions,
  BisectResult,
  Blame,
  DiffRange,
  FileChange,
  PlacedChange,
  PruneOptions,
  PruneResult,
  RestorePart,
  RestoreResult,
  RewindOptions,
  RewindResult,
  ThreadDetails,
  ThreadPage,
  ThreadSize,
  Threads,
} from "./threads.ts";

/** The saver stays the caller's, who closes it. */
export function openThreads(saver: SharedSaver): Threads {
  if (typeof saver?.storage?.listThreads !== "function")
    throw new DeepwrightError("INVALID_OPTION", "openThreads needs a saver of @deepwright/checkpoint.");
  return new SaverThreads(saver);
}

const DEFAULT_LIMIT = 50;
const MOST_THREADS = 1_000;
const TITLE_CHARACTERS = 200;

class SaverThreads implements Threads {
  constructor(private readonly saver: SharedSaver) {}

  async list(options: { limit?: number; after?: string; cwd?: string } = {}): Promise<ThreadPage> {
    const { limit = DEFAULT_LIMIT, after, cwd } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_THREADS)
      throw new DeepwrightError("INVALID_INPUT", `'limit' must be a whole number from 1 to ${MOST_THREADS}.`);
    const found = await this.saver.storage.listThreads({
      limit: limit + 1,
      ...(after === undefined ? {} : { after: placeAfter(after) }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    const threads = found.slice(0, limit);
    const last = threads.at(-1);
    return { threads, next: found.length > limit && last ? cursorOf(last) : undefined };
  }

  async show(threadId: string): Promise<ThreadDetails> {
    const facts = await this.existing(threadId);
    return { ...facts, ...(await stepsOf(this.saver.storage, threadId)) };
  }

  async delete(threadId: string): Promise<void> {
    await this.existing(threadId);
    await this.saver.deleteThread(threadId);
  }

  async copy(from: string, to: string): Promise<void> {
    await this.existing(from);
    await this.saver.copyThread(from, to);
  }

  async rename(threadId: string, title: string): Promise<void> {
    await this.existing(threadId);
    const line = typeof title === "string" ? titleLine(title) : "";
    if (line === "") throw new DeepwrightError("INVALID_INPUT", "A title must be a text that is not empty.");
    await this.saver.storage.setFacts(threadId, { title: line });
  }

  async diff(
    threadId: string,
    step: number | string,
    options: { to?: number | string } = {},
  ): Promise<readonly FileChange[]> {
    const changes: FileChange[] = [];
    for await (const [, change] of this.changes(threadId, step, options)) changes.push(change);
    return changes;
  }

  async *changes(
    threadId: string,
    step: number | string,
    options: DiffRange = {},
  ): AsyncGenerator<PlacedChange> {
    await this.existing(threadId);
    const { diffSteps } = await import("./diff.ts");
    yield* diffSteps(this.saver, threadId, step, options);
  }

  async rewind(threadId: string, step: number | string, options: RewindOptions = {}): Promise<RewindResult> {
    await this.existing(threadId);
    const { rewindThread } = await import("./rewind.ts");
    return rewindThread(this.saver, threadId, step, options);
  }

  async restore(threadId: string, part: RestorePart, options: RewindOptions = {}): Promise<RestoreResult> {
    await this.existing(threadId);
    const { restorePart } = await import("./undo/restore-part.ts");
    return restorePart(this.saver, threadId, part, options);
  }

  async blame(threadId: string, path: string, root: string): Promise<Blame> {
    await this.existing(threadId);
    const { blameFile } = await import("./undo/blame.ts");
    return blameFile(this.saver, threadId, path, root);
  }

  async bisect(threadId: string, options: BisectOptions): Promise<BisectResult> {
    await this.existing(threadId);
    const { bisectThread } = await import("./forks/bisect.ts");
    return bisectThread(this.saver, threadId, options);
  }

  export(threadId: string): AsyncIterable<string> {
    return exportThread(this.saver.storage, checkedId("thread_id", threadId));
  }

  async import(
    lines: AsyncIterable<string> | Iterable<string>,
    options: { as?: string } = {},
  ): Promise<string> {
    return importThread(this.saver, lines, options.as);
  }

  async size(threadId: string): Promise<ThreadSize> {
    await this.existing(threadId);
    const { storage } = this.saver;
    if (storage.threadSize) return storage.threadSize(threadId);
    throw new DeepwrightError("NOT_SUPPORTED", "The sizes of threads in memory are not counted.");
  }

  async prune(options: PruneOptions): Promise<PruneResult> {
    if (options?.threadId !== undefined) await this.existing(options.threadId);
    return this.saver.prune(options);
  }

  async backup(path: string): Promise<void> {
    const { storage } = this.saver;
    if (storage.backup) return storage.backup(path);
    throw new DeepwrightError("NOT_SUPPORTED", "This database is not backed up from here.", {
      hint:
        storage instanceof MemoryStorage
          ? "Threads in memory end with the process: export those you want to keep."
          : "Use its own tools, such as pg_dump.",
    });
  }

  private async existing(threadId: string): Promise<ThreadFacts> {
    const facts = await this.saver.storage.thread(checkedId("thread_id", threadId));
    if (!facts) throw threadNotFound(threadId);
    return facts;
  }
}

/** Cleaned as the title a run gives is. */
function titleLine(title: string): string {
  const line = title.toWellFormed().replaceAll("\0", "").replaceAll(/\s+/g, " ").trim();
  return Array.from(line).slice(0, TITLE_CHARACTERS).join("");
}
