/** Runs that have ended, for counts. */
import type { EndedRun, EndedRunsQuery, Owner } from "../records.ts";
import type { Database, SqlValue } from "./database.ts";

/** The newest first. */
export async function endedRuns(
  { read }: Database,
  owner: Owner,
  { threadId, since, limit }: EndedRunsQuery,
): Promise<EndedRun[]> {
  const params: SqlValue[] = [owner, Math.ceil(since), Math.max(0, limit)];
  const ofThread = threadId === undefined ? "" : ` AND thread_id = $${params.push(threadId)}`;
  const rows = await read(async (session) =>
    session.all(
      `SELECT assistant_id, thread_id, ended_at, outcome FROM dw_srv_runs
        WHERE owner = $1 AND open = 0 AND ended_at >= $2${ofThread} ORDER BY ended_at DESC, position DESC LIMIT $3`,
      params,
    ),
  );
  return rows.map((row) => ({
    threadId: row.thread_id as string,
    assistantId: row.assistant_id as string,
    endedAt: row.ended_at as number,
    ...(row.outcome != null && { outcome: JSON.parse(row.outcome as string) }),
  }));
}
