/** Mail of threads, as rows where the database lives. What was settled stays as its id, so that it never comes again. */
import type { Database, SqlSession } from "./database.ts";
import type { Owner } from "./records.ts";
import { lockThread } from "./run-row.ts";

export interface Letter {
  readonly id: string;
  readonly kind: string;
  /** JSON. */
  readonly message: string;
}

/** As it waits. */
export interface WaitingLetter extends Letter {
  /** The number of the last run its thread had when it came. */
  readonly afterRun: number;
}

export type MailRows = ReturnType<typeof mailRows>;

export function mailRows(database: Database) {
  const { read, write } = database;
  return {
    /** Under the lock of the thread, so that the order of positions is that in which mail can be seen. */
    post: (threadId: string, { id, kind, message }: Letter, token: string): Promise<boolean> =>
      write(async (session) => {
        if (!(await lockThread(database, session, threadId))) return false;
        return insertLetter(session, threadId, { id, kind, message }, token);
      }),

    waiting: (threadId: string, kinds: readonly string[]): Promise<WaitingLetter[]> =>
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
        const rows = await session.all(
          `SELECT owner, thread_id FROM (
            SELECT t.owner, t.thread_id, (SELECT n.mail_id FROM dw_srv_mail n
                WHERE n.thread_id = t.thread_id AND n.message IS NOT NULL ORDER BY n.position DESC LIMIT 1) AS newest
              FROM dw_srv_threads t WHERE t.status = 'idle'
              AND t.thread_id IN (SELECT thread_id FROM dw_srv_mail WHERE message IS NOT NULL)
              AND NOT EXISTS (SELECT 1 FROM dw_srv_runs r WHERE r.thread_id = t.thread_id AND r.open = 1)) AS lonely
            WHERE NOT EXISTS (SELECT 1 FROM dw_srv_keys k
              WHERE k.owner = lonely.owner AND k.name =
              'mail:' || LENGTH(lonely.thread_id) || ':' || lonely.thread_id || ':' || lonely.newest) LIMIT $1`,
          [Math.max(0, limit)],
        );
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
export async function insertLetter(
  session: SqlSession,
  threadId: string,
  { id, kind, message }: Letter,
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
