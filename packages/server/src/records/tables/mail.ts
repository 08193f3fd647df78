/** Mail of threads, as rows of the database. The id of settled mail is kept, so that it never comes again. */

import type { Owner } from "../records.ts";
import type { Database, SqlSession } from "./database.ts";
import { lockThread } from "./run-row.ts";

export interface MailRow {
  readonly id: string;
  readonly kind: string;
  /** JSON. */
  readonly message: string;
}

/** As it waits. */
export interface WaitingRow extends MailRow {
  /** The number of the last run its thread had when it came. */
  readonly afterRun: number;
}

/** Mail about ended background work that nothing else reports: it begins a run even after a failure. */
export const BACKGROUND_KINDS = ["task-end", "completion"] as const;

const LAST_RUN = "(SELECT MAX(m.sequence) FROM dw_srv_runs m WHERE m.thread_id = t.thread_id)";

/** Mail that begins a run even if the run before failed. After a failure it does so once, if no run has begun since. */
const TELLS_OF_AN_END = `EXISTS (SELECT 1 FROM dw_srv_mail b WHERE b.thread_id = t.thread_id AND b.message IS NOT NULL
  AND b.kind IN (${BACKGROUND_KINDS.map((kind) => `'${kind}'`).join(", ")})
  AND (t.status = 'idle' OR b.after_run >= t.last_run))`;

/** The last run of the thread was cancelled, so the thread does not continue by itself. */
const WAS_CANCELLED = `EXISTS (SELECT 1 FROM dw_srv_runs c WHERE c.thread_id = t.thread_id AND c.status = 'interrupted'
  AND c.cancel IS NOT NULL AND c.sequence = ${LAST_RUN})`;

/**
 * Some threads cannot be answered, because their assistant is gone. The order is random, so that they do not block
 * others. Threads without a run come last: a run would name the assistant.
 */
const UNATTENDED = `SELECT owner, thread_id FROM (
  SELECT t.owner, t.thread_id, ${LAST_RUN} AS last_run, (SELECT n.mail_id FROM dw_srv_mail n
      WHERE n.thread_id = t.thread_id AND n.message IS NOT NULL ORDER BY n.position DESC LIMIT 1) AS newest
    FROM dw_srv_threads t WHERE t.status IN ('idle', 'error')
    AND t.thread_id IN (SELECT thread_id FROM dw_srv_mail WHERE message IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM dw_srv_runs r WHERE r.thread_id = t.thread_id AND r.open = 1)
    AND ((t.status = 'idle' AND NOT ${WAS_CANCELLED}) OR ${TELLS_OF_AN_END})) AS lonely
  WHERE NOT EXISTS (SELECT 1 FROM dw_srv_keys k WHERE k.owner = lonely.owner
    AND k.name = 'mail:' || LENGTH(lonely.thread_id) || ':' || lonely.thread_id || ':' || lonely.newest)
  ORDER BY CASE WHEN lonely.last_run IS NULL THEN 1 ELSE 0 END, RANDOM() LIMIT $1`;

export function mailRows(database: Database) {
  const { read, write } = database;
  return {
    /** Under the lock of the thread, so that the order of positions is that in which mail can be seen. */
    post: (owner: Owner, threadId: string, { id, kind, message }: MailRow, token: string): Promise<boolean> =>
      write(async (session) => {
        if (!(await lockThread(database, session, threadId, owner))) return false;
        return insertMail(session, threadId, { id, kind, message }, token);
      }),

    waiting: (threadId: string, kinds: readonly string[]): Promise<WaitingRow[]> =>
      read(async (session) => {
        const rows = await session.all(
          `SELECT mail_id, kind, message, after_run FROM dw_srv_mail
            WHERE thread_id = $1 AND message IS NOT NULL AND kind ${database.among("$2")} ORDER BY position`,
          [threadId, database.list(kinds)],
        );
        return rows.map((row) => ({
          id: row.mail_id as string,
          kind: row.kind as string,
          message: row.message as string,
          afterRun: row.after_run as number,
        }));
      }),

    unattended: (limit: number): Promise<{ owner: Owner; threadId: string }[]> =>
      read(async (session) => {
        const rows = await session.all(UNATTENDED, [Math.max(0, limit)]);
        return rows.map((row) => ({ owner: row.owner as string, threadId: row.thread_id as string }));
      }),

    settle: (threadId: string, ids: readonly string[]): Promise<void> =>
      write(async (session) => {
        await session.run(
          `UPDATE dw_srv_mail SET message = NULL WHERE thread_id = $1 AND mail_id ${database.among("$2")}`,
          [threadId, database.list(ids)],
        );
      }),
  };
}

/** Under the lock of the thread. False: it has or had one of this id, which another call put there. */
export async function insertMail(
  session: SqlSession,
  threadId: string,
  { id, kind, message }: MailRow,
  token: string,
): Promise<boolean> {
  const rows = await session.all("SELECT token FROM dw_srv_mail WHERE thread_id = $1 AND mail_id = $2", [
    threadId,
    id,
  ]);
  if (rows[0] !== undefined) return rows[0].token === token;
  await session.run(
    `INSERT INTO dw_srv_mail (thread_id, mail_id, kind, message, token, after_run)
      SELECT $1, $2, $3, $4, $5, last_run FROM dw_srv_threads WHERE thread_id = $1`,
    [threadId, id, kind, message, token],
  );
  return true;
}
