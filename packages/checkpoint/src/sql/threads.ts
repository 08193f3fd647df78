/** The small row of facts a thread has. */
import { DeepwrightError } from "deepwright/errors";
import type { FactChanges, ThreadFacts, ThreadQuery } from "../home/home.ts";
import { checkId, plainText } from "./ids.ts";
import type { SqlRow, SqlValue } from "./sql.ts";
import type { Work } from "./work.ts";

/** A thread's row, which nobody else changes before the transaction ends. */
export interface ThreadRecord {
  readonly id: number;
  readonly threadId: string;
  readonly epoch: number;
  readonly checkpointCount: number;
  readonly claim: ClaimRecord;
  /** Of the namespace that was asked for; absent while nothing is stored in it. */
  readonly space: number | undefined;
  readonly facts: FactChanges;
}

export interface ClaimRecord {
  readonly holder: string | undefined;
  readonly fence: number;
  /** Milliseconds it still lives; 0 or less when it is free. */
  readonly remaining: number;
}

const FACT_COLUMNS = {
  title: "title",
  firstPrompt: "first_prompt",
  messageCount: "message_count",
  model: "model",
  cwd: "cwd",
} as const satisfies Record<keyof FactChanges, string>;

const LISTED =
  "thread_id, title, first_prompt, message_count, checkpoint_count, model, cwd, created_at, updated_at";

export async function lockThread(
  { session, dialect }: Work,
  threadId: string,
  namespace = "",
): Promise<ThreadRecord | undefined> {
  const [row] = await session.all(
    `SELECT t.id, t.epoch, t.checkpoint_count, t.claim_holder, t.claim_fence,
      t.claim_expires - ${dialect.clock} AS claim_remaining, t.title, t.first_prompt, t.message_count,
      t.model, t.cwd, s.id AS space FROM dw_threads t
      LEFT JOIN dw_spaces s ON s.thread = t.id AND s.namespace = $2
      WHERE t.thread_id = $1${dialect.lockThread}`,
    [checkId(threadId, "A thread id"), checkId(namespace, "A namespace")],
  );
  return row === undefined ? undefined : recordOf(threadId, row);
}

/** The thread's row, made if there is none. Without checkpoints a thread is not listed. */
export async function lockOrCreateThread(
  work: Work,
  threadId: string,
  namespace: string,
  now: number,
): Promise<ThreadRecord> {
  const found = await lockThread(work, threadId, namespace);
  if (found) return found;
  await work.session.run(
    `INSERT INTO dw_threads (thread_id, epoch, claim_fence, created_at, updated_at)
      SELECT $1, m.value + 1, m.value + 1, CAST($2 AS BIGINT), CAST($2 AS BIGINT) FROM dw_meta m WHERE m.name = 'seed'`,
    [threadId, now],
  );
  return (await lockThread(work, threadId, namespace)) as ThreadRecord;
}

function recordOf(threadId: string, row: SqlRow): ThreadRecord {
  const holder = (row.claim_holder as string | null) ?? undefined;
  return {
    id: row.id as number,
    threadId,
    epoch: row.epoch as number,
    checkpointCount: row.checkpoint_count as number,
    claim: {
      holder,
      fence: row.claim_fence as number,
      remaining: holder === undefined ? 0 : Math.max(0, row.claim_remaining as number),
    },
    space: (row.space as number | null) ?? undefined,
    facts: {
      title: (row.title as string | null) ?? undefined,
      firstPrompt: (row.first_prompt as string | null) ?? undefined,
      messageCount: row.message_count as number,
      model: (row.model as string | null) ?? undefined,
      cwd: (row.cwd as string | null) ?? undefined,
    },
  };
}

export interface ThreadChanges {
  readonly facts: FactChanges | undefined;
  /** When the thread was written to; absent when that is not to show. */
  readonly updatedAt: number | undefined;
  readonly newCheckpoints: number;
}

/** Writes what differs and nothing else. */
export async function updateThread(
  { session }: Work,
  thread: ThreadRecord,
  changes: ThreadChanges,
): Promise<void> {
  const assignments: string[] = [];
  const values: SqlValue[] = [];
  const assign = (column: string, value: SqlValue) => {
    values.push(value);
    assignments.push(`${column} = $${values.length}`);
  };
  for (const [column, value] of differingFacts(thread.facts, changes.facts ?? {})) assign(column, value);
  if (changes.updatedAt !== undefined) {
    assign("updated_at", changes.updatedAt);
    if (thread.checkpointCount === 0) assign("created_at", changes.updatedAt);
  }
  const { newCheckpoints } = changes;
  if (newCheckpoints === 1) assignments.push("checkpoint_count = checkpoint_count + 1");
  else if (newCheckpoints > 1) assign("checkpoint_count", thread.checkpointCount + newCheckpoints);
  if (assignments.length === 0) return;
  values.push(thread.id);
  await session.run(`UPDATE dw_threads SET ${assignments.join(", ")} WHERE id = $${values.length}`, values);
}

function differingFacts(present: FactChanges, wanted: FactChanges): [string, string | number][] {
  const changed: [string, string | number][] = [];
  for (const key of Object.keys(FACT_COLUMNS) as (keyof FactChanges)[]) {
    const value = wanted[key];
    if (value === undefined || (key === "firstPrompt" && present.firstPrompt !== undefined)) continue;
    const stored = typeof value === "string" ? plainText(value) : value;
    if (stored !== present[key]) changed.push([FACT_COLUMNS[key], stored]);
  }
  return changed;
}

export async function setFacts(work: Work, threadId: string, facts: FactChanges): Promise<void> {
  const thread = await lockThread(work, threadId);
  if (thread === undefined) throw threadNotFound(threadId);
  await updateThread(work, thread, { facts, updatedAt: undefined, newCheckpoints: 0 });
}

export function threadNotFound(threadId: string): DeepwrightError {
  return new DeepwrightError("THREAD_NOT_FOUND", `There is no thread "${threadId}".`);
}

export async function epochOf({ session }: Work, threadId: string): Promise<number> {
  const [row] = await session.all("SELECT epoch FROM dw_threads WHERE thread_id = $1", [threadId]);
  return row === undefined ? 0 : (row.epoch as number);
}

export async function factsOf({ session }: Work, threadId: string): Promise<ThreadFacts | undefined> {
  const [row] = await session.all(
    `SELECT ${LISTED} FROM dw_threads WHERE thread_id = $1 AND checkpoint_count > 0`,
    [threadId],
  );
  return row === undefined ? undefined : threadFacts(row);
}

/** Walks an index from where the last page ended, so a page costs the same wherever it is. */
export async function listThreads({ session }: Work, query: ThreadQuery): Promise<ThreadFacts[]> {
  const conditions = ["checkpoint_count > 0"];
  const values: SqlValue[] = [];
  const bind = (value: SqlValue) => `$${values.push(value)}`;
  if (query.cwd !== undefined) conditions.push(`cwd = ${bind(query.cwd)}`);
  if (query.after !== undefined) {
    const moment = bind(query.after.updatedAt);
    const name = bind(query.after.threadId);
    conditions.push(`updated_at <= ${moment} AND (updated_at < ${moment} OR thread_id > ${name})`);
  }
  const rows = await session.all(
    `SELECT ${LISTED} FROM dw_threads WHERE ${conditions.join(" AND ")}
      ORDER BY updated_at DESC, thread_id LIMIT ${bind(query.limit)}`,
    values,
  );
  return rows.map(threadFacts);
}

function threadFacts(row: SqlRow): ThreadFacts {
  return {
    threadId: row.thread_id as string,
    title: (row.title as string | null) ?? undefined,
    firstPrompt: (row.first_prompt as string | null) ?? undefined,
    messageCount: row.message_count as number,
    checkpointCount: row.checkpoint_count as number,
    model: (row.model as string | null) ?? undefined,
    cwd: (row.cwd as string | null) ?? undefined,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  };
}
