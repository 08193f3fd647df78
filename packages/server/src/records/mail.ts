/** Mail of threads, as rows where the database lives. What was settled stays as its id, so that it never comes again. */
import type { Database } from "./database.ts";
import { lockThread } from "./run-row.ts";

export interface Letter {
  readonly id: string;
  readonly kind: string;
  /** JSON. */
  readonly message: string;
}

export type MailRows = ReturnType<typeof mailRows>;

export function mailRows(database: Database) {
  const { read, write } = database;
  return {
    /** Under the lock of the thread, so that the order of positions is that in which mail can be seen. */
    post: (threadId: string, { id, kind, message }: Letter, token: string): Promise<boolean> =>
      write(async (session) => {
        if (!(await lockThread(database, session, threadId))) return false;
        const rows = await session.all(
          "SELECT token FROM dw_srv_mail WHERE thread_id = $1 AND mail_id = $2",
          [threadId, id],
        );
        if (rows[0] !== undefined) return rows[0].token === token;
        await session.run(
          "INSERT INTO dw_srv_mail (thread_id, mail_id, kind, message, token) VALUES ($1, $2, $3, $4, $5)",
          [threadId, id, kind, message, token],
        );
        return true;
      }),

    waiting: (threadId: string, kinds: readonly string[]): Promise<Letter[]> =>
      read(async (session) => {
        const rows = await session.all(
          `SELECT mail_id, kind, message FROM dw_srv_mail
            WHERE thread_id = $1 AND message IS NOT NULL AND kind ${database.among("$2")} ORDER BY position`,
          [threadId, database.list(kinds)],
        );
        return rows.map((row) => ({
          id: row.mail_id as string,
          kind: row.kind as string,
          message: row.message as string,
        }));
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
