/** Making room, by age, by number or by size. */
import { DeepwrightError } from "deepwright/errors";
import { damaged } from "../../storage/damaged.ts";
import type { PruneRule } from "../../storage/prune-plan.ts";
import type { PruneQuery, PruneResult } from "../../storage/storage.ts";
import type { Work } from "../work.ts";
import { NOTHING_PRUNED, pruneThread } from "./prune-thread.ts";

type Query = Pick<PruneQuery, "threadId" | "onlyImages">;

/** Runs one transaction. */
export type Transaction = <T>(act: (work: Work) => Promise<T>) => Promise<T>;

/** Share of the checkpoints that is removed between two checks of the size. */
const STEP = 1 / 8;

/** A transaction per thread: a prune that is cut short has done a part of its work, and that part whole. */
export async function prune(transaction: Transaction, query: PruneQuery): Promise<PruneResult> {
  const { threadId, keepLatest, olderThan, maxBytes, onlyImages } = query;
  let result = NOTHING_PRUNED;
  if (keepLatest !== undefined || olderThan !== undefined) {
    const names = await transaction((work) =>
      onlyImages && olderThan !== undefined
        ? threadsWithOlder(work, query, olderThan)
        : threadNames(work, threadId),
    );
    result = await pruneThreads(transaction, names, { keepLatest, olderThan, onlyImages });
  }
  return maxBytes === undefined ? result : sum(result, await pruneToSize(transaction, query, maxBytes));
}

/** Everything stored before a moment goes, and the moment moves on until the rest is small enough. */
async function pruneToSize(
  transaction: Transaction,
  { threadId, onlyImages }: Query,
  maxBytes: number,
): Promise<PruneResult> {
  let result = NOTHING_PRUNED;
  const moments = await transaction((work) => storedMoments(work, { threadId, onlyImages }));
  while (moments.length > 0) {
    if ((await transaction((work) => contentBytes(work, threadId))) <= maxBytes) break;
    const given = moments.splice(0, Math.ceil(moments.length * STEP));
    const olderThan = (given.at(-1) as number) + 1;
    const names = await transaction((work) => threadsWithOlder(work, { threadId, onlyImages }, olderThan));
    result = sum(result, await pruneThreads(transaction, names, { olderThan, onlyImages }));
  }
  return result;
}

async function pruneThreads(
  transaction: Transaction,
  names: readonly string[],
  rule: PruneRule,
): Promise<PruneResult> {
  let result = NOTHING_PRUNED;
  let damage: DeepwrightError | undefined;
  for (const name of names) {
    try {
      result = sum(result, await transaction((work) => pruneThread(work, name, rule)));
    } catch (error) {
      if (!(error instanceof DeepwrightError && error.code === "STORAGE_CORRUPT")) throw error;
      damage ??= damaged(`the thread "${name}" cannot be pruned; the others are`, error);
    }
  }
  if (damage) throw damage;
  return result;
}

async function threadNames({ session }: Work, threadId: string | undefined): Promise<string[]> {
  if (threadId !== undefined) return [threadId];
  const rows = await session.all("SELECT thread_id FROM dw_threads ORDER BY thread_id");
  return rows.map((row) => row.thread_id).filter(isName);
}

/** A thread without a name cannot be pruned. */
function isName(value: unknown): value is string {
  return typeof value === "string";
}

function isMoment(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Checkpoints and images, each by the moment it was stored, oldest first. */
async function storedMoments({ session }: Work, { threadId, onlyImages }: Query): Promise<number[]> {
  const ofSteps = `SELECT c.stored_at FROM dw_threads t JOIN dw_spaces s ON s.thread = t.id
      JOIN dw_checkpoints c ON c.space = s.id${ofThread(threadId)} UNION ALL `;
  const rows = await session.all(
    `${onlyImages ? "" : ofSteps}SELECT i.stored_at FROM dw_threads t JOIN dw_images i ON i.thread = t.id${ofThread(threadId)}
      ORDER BY stored_at`,
    threadId === undefined ? [] : [threadId],
  );
  return rows.map((row) => row.stored_at).filter(isMoment);
}

async function threadsWithOlder(
  { session }: Work,
  { threadId, onlyImages }: Query,
  moment: number,
): Promise<string[]> {
  if (threadId !== undefined) return [threadId];
  const hasStep = `EXISTS (SELECT 1 FROM dw_spaces s JOIN dw_checkpoints c ON c.space = s.id
        WHERE s.thread = t.id AND c.stored_at < $1) OR `;
  const rows = await session.all(
    `SELECT t.thread_id FROM dw_threads t WHERE
      ${onlyImages ? "" : hasStep}EXISTS (SELECT 1 FROM dw_images i WHERE i.thread = t.id AND i.stored_at < $1)`,
    [moment],
  );
  return rows.map((row) => row.thread_id).filter(isName);
}

/** Bytes of one thread: of the objects it owns and of its rows. */
async function contentBytes({ session }: Work, threadId: string | undefined): Promise<number> {
  const length = (alias: string, refs: string) =>
    `COALESCE(SUM(COALESCE(octet_length(${alias}.body), 0) + COALESCE(octet_length(${alias}.${refs}), 0)), 0)`;
  const where = ofThread(threadId);
  const [row] = await session.all(
    `SELECT (SELECT ${length("o", "head")} FROM dw_objects o JOIN dw_threads t ON t.id = o.owner${where})
      + (SELECT ${length("c", "refs")} FROM dw_checkpoints c JOIN dw_spaces s ON s.id = c.space
        JOIN dw_threads t ON t.id = s.thread${where})
      + (SELECT ${length("w", "refs")} FROM dw_writes w JOIN dw_spaces s ON s.id = w.space
        JOIN dw_threads t ON t.id = s.thread${where}) AS bytes`,
    threadId === undefined ? [] : [threadId],
  );
  return Number(row?.bytes ?? 0);
}

function ofThread(threadId: string | undefined): string {
  return threadId === undefined ? "" : " WHERE t.thread_id = $1";
}

function sum(one: PruneResult, other: PruneResult): PruneResult {
  return {
    checkpoints: one.checkpoints + other.checkpoints,
    objects: one.objects + other.objects,
    bytes: one.bytes + other.bytes,
  };
}
