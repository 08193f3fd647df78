/**
 * The queue of many processes, in Postgres: graphile-worker.
 *
 * A job is a wake-up, not a run: it ends when a worker has heard it. Runs hold claims of their own, which others take
 * over after seconds, while a job of a process that was killed stays locked for hours. One job a thread waits at a
 * time (its key), and is delivered by LISTEN and NOTIFY, or when it is due.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openPostgresPool } from "@deepwright/checkpoint/sql";
import { checkDurations } from "deepwright/duration";
import { Logger, makeWorkerUtils, run, type WorkerUtils } from "graphile-worker";
import { type KeptRunner, keepRunner } from "./keep-runner.ts";
import type { Queue, WakeHandler } from "./queue.ts";

export interface GraphileQueueOptions {
  /** URL of the database; the tables of the queue are in a schema of their own. */
  readonly connectionString: string;
  /** Default `deepwright_queue`. */
  readonly schema?: string;
  /** Wake-ups that are handled at a time. Default 8. */
  readonly concurrency?: number;
  /** Milliseconds until a wake-up with a lost notification is found. Default 2 000. */
  readonly pollMs?: number;
  /** Milliseconds a statement may stay unanswered before its connection is given up. Default 25 000. */
  readonly answerMs?: number;
  readonly onError?: (error: unknown) => void;
}

const TASK = "wake";
/** A worker without room offers the wake-up again after this. */
const FULL_MS = 250;
/** Attempts of a wake-up; a lost one is found by the scan of the records. */
const ATTEMPTS = 5;
/**
 * Completed jobs are reported to Postgres in batches. If a batch fails, the runner notices and ends. Without batches
 * the failure would be an unhandled rejection, which ends the process. Statements are not prepared: behind a pooler in
 * transaction mode the next statement may run in a session that has it already, or not yet.
 */
const PRESET = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0, preparedStatements: false } };
/** No process needs that long for a wake-up: its holder is gone. */
const STALE_SECONDS = 60;
const TIDY_MS = 600_000;
const LAST_MS = 2_000;
/** Messages that every connection logs when Postgres goes away. They add nothing to the error itself. */
const BESIDE_THE_POINT = /^(PostgreSQL \w+ client generated error|Error occurred attempting to UNLISTEN)/;
/** One listens; the others send wake-ups and take them. */
const CONNECTIONS = 6;

export function createGraphileQueue(options: GraphileQueueOptions): Queue {
  const { connectionString, schema = "deepwright_queue", concurrency = 8, pollMs = 2_000 } = options;
  // Of graphile-worker's own timers.
  checkDurations({ unit: "milliseconds", most: 2 ** 31 - 1 }, { pollMs });
  const onError = options.onError ?? (() => {});
  const logger = new Logger(() => (level, message) => {
    if (level === "error" && !BESIDE_THE_POINT.test(message)) onError(new Error(`queue: ${message}`));
  });
  /** Our own pool: a runner that ends by an error would leave connections without an error listener. */
  let pool: ReturnType<typeof openPostgresPool> | undefined;
  const shared = async () => {
    pool ??= openPostgresPool(connectionString, CONNECTIONS, options.answerMs);
    return { pgPool: await pool, schema, logger, preset: PRESET };
  };
  let utils: Promise<WorkerUtils> | undefined;
  let runner: KeptRunner | undefined;
  let tidier: NodeJS.Timeout | undefined;
  let closed: Promise<void> | undefined;

  const sender = (): Promise<WorkerUtils> => {
    utils ??= shared()
      .then(openUtils)
      .catch((error) => {
        utils = undefined;
        throw error;
      });
    return utils;
  };
  const add = async (threadId: string, notBefore: number | undefined): Promise<void> => {
    const { addJob } = await sender();
    await addJob(TASK, { threadId }, jobOptions(threadId, notBefore));
  };
  /** A wake-up that cannot be sent now is dropped, not reported as an error. */
  const wake = (threadId: string, notBefore?: number): Promise<void> =>
    add(threadId, notBefore).catch((error) =>
      onError(new Error("queue: a wake-up is lost", { cause: error })),
    );
  const task = (handler: WakeHandler) => async (payload: unknown) => {
    const { threadId } = payload as { threadId: string };
    if ((await handler(threadId)) === "full") await wake(threadId, Date.now() + FULL_MS);
  };
  const tidy = (): Promise<void> => sender().then(removeStale(schema)).catch(onError);
  const stop = async (): Promise<void> => {
    clearInterval(tidier);
    await runner?.stop();
  };

  return {
    wake,
    async start(handler) {
      runner = keepRunner(
        async (events) =>
          run({
            ...(await shared()),
            events,
            concurrency,
            pollInterval: pollMs,
            noHandleSignals: true,
            taskList: { [TASK]: task(handler) as never },
          }),
        onError,
      );
      await runner.started;
      await tidy();
      tidier = setInterval(() => void tidy(), TIDY_MS).unref();
    },
    stop,
    close() {
      closed ??= stop().then(async () => {
        await utils?.then((made) => made.release()).catch(() => undefined);
        // A runner that was left alone may never give its connection back.
        await Promise.race([pool?.then((made) => made.end()), sleep(LAST_MS, undefined, { ref: false })]);
      });
      return closed;
    },
  };
}

/** A job that is due later has its own key, so that it does not replace one that is due now. */
function jobOptions(threadId: string, notBefore: number | undefined) {
  if (notBefore === undefined || notBefore <= Date.now()) return { jobKey: threadId, maxAttempts: ATTEMPTS };
  const jobKey = `${threadId}@${Math.ceil(notBefore)}`;
  return { jobKey, maxAttempts: ATTEMPTS, runAt: new Date(notBefore) };
}

async function openUtils(options: Parameters<typeof makeWorkerUtils>[0]): Promise<WorkerUtils> {
  const utils = await makeWorkerUtils(options);
  try {
    await utils.migrate();
    return utils;
  } catch (error) {
    await utils.release();
    throw error;
  }
}

/** Wake-ups that a process took and never finished. The scan has found their work meanwhile. */
const removeStale = (schema: string) => async (utils: WorkerUtils) => {
  const { rows } = await utils.withPgClient((client) =>
    client.query<{ id: string; locked_by: string }>(
      `SELECT id, locked_by FROM "${schema}".jobs WHERE locked_at < now() - $1 * interval '1 second'`,
      [STALE_SECONDS],
    ),
  );
  if (rows.length === 0) return;
  await utils.forceUnlockWorkers([...new Set(rows.map((row) => row.locked_by))]);
  await utils.completeJobs(rows.map((row) => row.id));
};
