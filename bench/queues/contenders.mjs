/** Queues on Postgres that could carry wake-ups. Each: `{send(thread), close()}`, telling `heard(thread)`. */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const CONTENDERS = {
  "graphile-worker, key of the thread": (url, heard) => graphile(url, heard, () => ({})),
  "graphile-worker, key and serial queue": (url, heard) =>
    graphile(url, heard, (thread) => ({ queueName: thread })),
  "pg-boss, one job at a time in 8 loops, polling every 0.5 s": (url, heard) => boss(url, heard, 8, 1),
  "pg-boss, 100 jobs at a time, polling every 0.5 s": (url, heard) => boss(url, heard, 1, 100),
  "DBOS, a queue, polling every 1 s (its default)": (url, heard) => dbos(url, heard, 1_000),
  "DBOS, a queue, polling every 0.1 s": (url, heard) => dbos(url, heard, 100),
};

async function graphile(connectionString, heard, more) {
  const { Logger, makeWorkerUtils, run } = require("graphile-worker");
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  const runner = await run({
    connectionString,
    logger,
    concurrency: 8,
    pollInterval: 2_000,
    noHandleSignals: true,
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0, preparedStatements: false } },
    taskList: { wake: async ({ thread }) => heard(thread) },
  });
  return {
    send: (thread) => utils.addJob("wake", { thread }, { jobKey: thread, ...more(thread) }),
    close: async () => {
      await runner.stop();
      await utils.release();
    },
  };
}

async function boss(connectionString, heard, loops, batchSize) {
  const PgBoss = require("pg-boss");
  const queue = new PgBoss({ connectionString, schedule: false });
  queue.on("error", () => {});
  await queue.start();
  await queue.createQueue("wake");
  const options = { pollingIntervalSeconds: 0.5, batchSize };
  for (let loop = 0; loop < loops; loop += 1)
    await queue.work("wake", options, async (jobs) => {
      for (const { data } of jobs) heard(data.thread);
    });
  return {
    send: (thread) => queue.send("wake", { thread }),
    close: () => queue.stop({ graceful: false, wait: true }),
  };
}

async function dbos(systemDatabaseUrl, heard, minPollingIntervalMs) {
  const { DBOS } = require("@dbos-inc/dbos-sdk");
  DBOS.setConfig({ name: "wake", systemDatabaseUrl, logLevel: "error", runAdminServer: false });
  const wake = DBOS.registerWorkflow(async (thread) => heard(thread), { name: "wake" });
  await DBOS.launch();
  await DBOS.registerQueue("wake", { minPollingIntervalMs });
  return {
    send: (thread) => DBOS.startWorkflow(wake, { queueName: "wake" })(thread),
    close: () => DBOS.shutdown({ deregister: true }),
  };
}
