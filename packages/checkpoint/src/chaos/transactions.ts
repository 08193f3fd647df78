/** Stops processes where a scenario wants them to stop: inside a transaction, or outside. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { openDatabase } from "../sqlite/driver.ts";
import { isBusy } from "../sqlite/sqlite-errors.ts";
import type { Random } from "./random.ts";
import { waitUntilStopped } from "./stopped.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Time in which Postgres finishes what it was told last. */
const SETTLE_MS = 30;
const ATTEMPTS = 1_000;
const LONGEST_STEP_MS = 8;

/** The only process that writes to the database at `place`. */
export async function stopWriter(
  worker: WorkerProcess,
  place: string,
  where: "inside" | "outside",
  random: Random,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    worker.stop();
    waitUntilStopped(worker.pid);
    if ((await hasTransaction(place)) === (where === "inside")) return;
    worker.continue();
    await sleep(random.below(LONGEST_STEP_MS));
  }
  throw new Error(`The worker was never ${where} a transaction.`);
}

function hasTransaction(place: string): Promise<boolean> | boolean {
  return place.startsWith("postgres") ? postgresHasTransaction(place) : isFileLocked(place);
}

function isFileLocked(path: string): boolean {
  const database = openDatabase(path, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    database.exec("BEGIN IMMEDIATE");
    database.exec("ROLLBACK");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

async function postgresHasTransaction(url: string): Promise<boolean> {
  await sleep(SETTLE_MS);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND backend_type = 'client backend' AND state LIKE 'idle in transaction%' AND backend_xid IS NOT NULL`,
    );
    return rows.length > 0;
  } finally {
    await client.end();
  }
}
