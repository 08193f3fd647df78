/** The small row of facts a thread has. */
import { DeepwrightError } from "deepwright/errors";
import { isProcessGone } from "deepwright/process-identity";
import { damaged } from "../storage/damaged.ts";
import type { FactChanges, ThreadFacts, ThreadQuery } from "../storage/storage.ts";
import { countIn, integerIn, LAST_MOMENT, momentIn, optional, textIn } from "./columns.ts";
import { checkId, plainText } from "./ids.ts";
import type { SqlRow, SqlValue } from "./sql.ts";
import type { Work } from "./work.ts";

/** The locked row of a thread. */
export interface ThreadRecord {
  readonly id: number;
  readonly threadId: string;
  readonly epoch: number;
  readonly checkpointCount: number;
  readonly claim: ClaimRecord;
  /** Row of the requested namespace; absent while nothing is stored in it. */
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

/** `number` reads epoch, fence and counts. */
export async function lockThread(
  { session, dialect }: Work,
  threadId: string,
  namespace = "",
  number = integerIn,
): Promise<ThreadRecord | undefined> {
  const [row] = await session.all(
    `SELECT t.id, t.epoch, t.checkpoint_count, t.claim_holder, t.claim_fence,
      t.claim_expires - ${dialect.claimClock} AS claim_remaining, t.claim_ttl, t.title, t.first_prompt, t.message_count,
      t.model, t.cwd, s.id AS space FROM dw_threads t
      LEFT JOIN dw_spaces s ON s.thread = t.id AND s.namespace = $2
      WHERE t.thread_id = $1${dialect.lockThread}`,
    [checkId(threadId, "A thread id"), checkId(namespace, "A namespace")],
  );
  return row === undefined ? undefined : recordOf(threadId, row, number);
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
  const made = await lockThread(work, threadId, namespace);
  if (made === undefined) throw damaged("the table dw_meta has no row 'seed'");
  return made;
}

function recordOf(threadId: string, row: SqlRow, number: typeof integerIn): ThreadRecord {
  const holder = textOrNothing(row.claim_holder);
  return {
    id: integerIn(row, "id"),
    threadId,
    epoch: number(row, "epoch"),
    checkpointCount: number(row, "checkpoint_count"),
    claim: {
      holder,
      fence: number(row, "claim_fence"),
      remaining: holder === undefined ? 0 : remainingOf(holder, row, number),
    },
    space: optional(row, "space", integerIn),
    facts: {
      title: textOrNothing(row.title),
      firstPrompt: textOrNothing(row.first_prompt),
      messageCount: Number(row.message_count),
      model: textOrNothing(row.model),
      cwd: textOrNothing(row.cwd),
    },
  };
}

/** A claim is over as well when the clock was set back since, or its process is gone. */
function remainingOf(holder: string, row: SqlRow, number: typeof integerIn): number {
  const remaining = number(row, "claim_remaining");
  return remaining <= 0 || remaining > number(row, "claim_ttl") || isProcessGone(holder) ? 0 : remaining;
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export interface ThreadChanges {
  readonly facts: FactChanges | undefined;
  /** When the thread was written to; absent when that is not to show. */
  readonly updatedAt: number | undefined;
  readonly newCheckpoints: number;
}

/** Writes only the fields that differ. */
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
  return row === undefined ? 0 : integerIn(row, "epoch");
}

export async function factsOf({ session }: Work, threadId: string): Promise<ThreadFacts | undefined> {
  const [row] = await session.all(`SELECT ${LISTED} FROM dw_threads WHERE thread_id = $1`, [threadId]);
  const facts = row && threadFacts(row);
  return facts?.checkpointCount === 0 ? undefined : facts;
}

/**
 * Continues in an index from the end of the last page, so every page costs the same. A thread without a name or a time
 * has no place in the order and is left out; one that is damaged otherwise is listed with the rest of its facts.
 */
export async function listThreads({ session, dialect }: Work, query: ThreadQuery): Promise<ThreadFacts[]> {
  const values: SqlValue[] = [];
  const bind = (value: SqlValue) => `$${values.push(value)}`;
  const conditions = [
    "checkpoint_count > 0",
    `updated_at BETWEEN 0 AND ${LAST_MOMENT}`,
    dialect.isText("thread_id"),
  ];
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
  const listed = rows.map(listedFacts);
  if (query.after && listed[0]?.threadId === query.after.threadId)
    throw damaged("the threads in the list have no order");
  return listed;
}

function listedFacts(row: SqlRow): ThreadFacts {
  const readable = { ...row };
  for (const column of ["title", "first_prompt", "model", "cwd"])
    if (typeof row[column] !== "string") readable[column] = null;
  for (const column of ["message_count", "checkpoint_count", "created_at"])
    if (!isCount(row[column])) readable[column] = 0;
  return threadFacts(readable);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LAST_MOMENT;
}

function threadFacts(row: SqlRow): ThreadFacts {
  return {
    threadId: textIn(row, "thread_id"),
    title: optional(row, "title", textIn),
    firstPrompt: optional(row, "first_prompt", textIn),
    messageCount: countIn(row, "message_count"),
    checkpointCount: countIn(row, "checkpoint_count"),
    model: optional(row, "model", textIn),
    cwd: optional(row, "cwd", textIn),
    createdAt: momentIn(row, "created_at"),
    updatedAt: momentIn(row, "updated_at"),
  };
}
