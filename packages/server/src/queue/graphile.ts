/**
 * The queue of many processes, in Postgres: graphile-worker.
 *
 * A job is a wake-up, not a run: it ends when a worker has heard it. Runs hold claims of their own, which others take
 * over after seconds, while a job of a process that was killed stays locked for hours. One job a thread waits at a
 * time (its key), and is delivered by LISTEN and NOTIFY, or when it is due.
 */
import { Logger, makeWorkerUtils, type Runner, run, type WorkerUtils } from "graphile-worker";
import type { Queue, WakeHandler } from "./queue.ts";

export interface GraphileQueueOptions {
  /** Of the database; its tables are in a schema of their own. */
  readonly connectionString: string;
  /** Default `deepwright_queue`. */
  readonly schema?: string;
  /** Wake-ups that are handled at a time. Default 8. */
  readonly concurrency?: number;
  /** Milliseconds after which a wake-up whose notification was lost is found. Default 2 000. */
  readonly pollMs?: number;
  readonly onError?: (error: unknown) => void;
}

const TASK = "wake";
/** A worker without room offers the wake-up again after this. */
const FULL_MS = 250;
/** What is lost after these is found by the scan of the records. */
const ATTEMPTS = 5;

export function createGraphileQueue(options: GraphileQueueOptions): Queue {
  const { connectionString, schema = "deepwright_queue", concurrency = 8, pollMs = 2_000 } = options;
  const logger = new Logger(() => (level, message) => {
    if (level === "error") options.onError?.(new Error(`queue: ${message}`));
  });
  const shared = { connectionString, schema, logger };
  let utils: Promise<WorkerUtils> | undefined;
  let runner: Runner | undefined;
  let stopped: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  const sender = (): Promise<WorkerUtils> => {
    utils ??= makeWorkerUtils({ ...shared, maxPoolSize: 4 }).then(
      async (made) => {
        await made.migrate();
        return made;
      },
      (error) => {
        utils = undefined;
        throw error;
      },
    );
    return utils;
  };
  const wake = async (threadId: string, notBefore?: number): Promise<void> => {
    const { addJob } = await sender();
    const isLater = notBefore !== undefined && notBefore > Date.now();
    await addJob(
      TASK,
      { threadId },
      {
        // What is not due yet does not stand in for what is.
        jobKey: isLater ? `${threadId}@${Math.ceil(notBefore)}` : threadId,
        maxAttempts: ATTEMPTS,
        ...(isLater && { runAt: new Date(notBefore) }),
      },
    );
  };
  const task = (handler: WakeHandler) => async (payload: unknown) => {
    const { threadId } = payload as { threadId: string };
    if ((await handler(threadId)) === "full") await wake(threadId, Date.now() + FULL_MS);
  };
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await runner?.stop().catch(() => undefined);
    })();
    return stopped;
  };

  return {
    wake,
    async start(handler) {
      await sender();
      runner = await run({
        ...shared,
        concurrency,
        maxPoolSize: Math.min(concurrency, 4) + 2,
        pollInterval: pollMs,
        noHandleSignals: true,
        taskList: { [TASK]: task(handler) as never },
      });
      // It ends when it is stopped, or by an error that the next process will meet, too.
      runner.promise.catch((error) => options.onError?.(error));
    },
    stop,
    close() {
      closed ??= stop().then(() => utils?.then((made) => made.release()).catch(() => undefined));
      return closed;
    },
  };
}
